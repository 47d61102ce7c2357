-- What people do with an entry: cancel it, send it again as new with a second person's yes, and many at once by a plan.

ALTER TABLE counterfoil.act DROP CONSTRAINT act_action_check;
ALTER TABLE counterfoil.act ADD CONSTRAINT act_action_check CHECK (action IN (
  'redrive', 'settle', 'release', 'discard', 'resume', 'push', 'pause', 'skip', 'cancel', 'send_again', 'approve', 'bulk',
  'reconcile'));

-- ── Send again as new ───────────────────────────────────────────────────────────────────────────────────────────────

-- One person asks that an action is carried out once more, as a business action of its own under a key of its own.
CREATE TABLE counterfoil.again_request (
  id              uuid PRIMARY KEY,
  -- The entry that is sent again, and the first one of its family: numbers count by family.
  entry           uuid NOT NULL,
  root            uuid NOT NULL,
  number          integer NOT NULL CHECK (number >= 1),
  idempotency_key text COLLATE "C" NOT NULL CHECK (octet_length(idempotency_key) BETWEEN 1 AND 255),
  requested_by    text NOT NULL CHECK (octet_length(requested_by) BETWEEN 1 AND 64),
  -- Whom it asks: another person (I9).
  approver        text NOT NULL CHECK (octet_length(approver) BETWEEN 1 AND 64),
  reason          text NOT NULL,
  -- How the entry stood: a yes to an older picture is refused.
  seen_version    text NOT NULL,
  act             uuid NOT NULL,
  requested_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT again_request_number UNIQUE (root, number),
  CONSTRAINT again_request_two_people CHECK (approver <> requested_by)
);
CREATE INDEX again_request_entry ON counterfoil.again_request (entry);

-- The one answer to a request; a yes names the entry that it made.
CREATE TABLE counterfoil.again_answer (
  request     uuid PRIMARY KEY,
  answer      text NOT NULL CHECK (answer IN ('approved', 'declined')),
  answered_by text NOT NULL CHECK (octet_length(answered_by) BETWEEN 1 AND 64),
  entry       uuid UNIQUE,
  act         uuid NOT NULL,
  answered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT again_answer_entry CHECK ((answer = 'approved') = (entry IS NOT NULL))
);

-- Whatever program writes it: a yes is the word of the person who was asked (I9).
CREATE FUNCTION counterfoil.require_approver() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM counterfoil.again_request q WHERE q.id = NEW.request
                    AND (q.approver = NEW.answered_by OR (NEW.answer = 'declined' AND q.requested_by = NEW.answered_by)))
  THEN
    RAISE EXCEPTION 'request % does not ask %', NEW.request, NEW.answered_by USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER two_people BEFORE INSERT ON counterfoil.again_answer
  FOR EACH ROW EXECUTE FUNCTION counterfoil.require_approver();

-- ── Plans: many entries, one decision ───────────────────────────────────────────────────────────────────────────────

-- What was asked for. Frozen with its items: it never grows.
CREATE TABLE counterfoil.plan (
  id      uuid PRIMARY KEY,
  action  text NOT NULL CHECK (action IN ('redrive', 'settle', 'cancel')),
  -- Which entries were looked at, and for a settlement as what and on which evidence.
  filter  jsonb NOT NULL,
  detail  jsonb NOT NULL DEFAULT '{}',
  reason  text NOT NULL,
  made_by text NOT NULL CHECK (octet_length(made_by) BETWEEN 1 AND 64),
  act     uuid NOT NULL,
  -- More matched than a plan holds.
  cut     boolean NOT NULL,
  made_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE counterfoil.plan_item (
  plan         uuid NOT NULL,
  number       integer NOT NULL CHECK (number >= 1),
  entry        uuid NOT NULL,
  state        text NOT NULL,
  reason       text,
  -- How the entry stood; one that has changed since is skipped.
  seen_version text NOT NULL,
  included     boolean NOT NULL,
  -- Why not, as a word and as a sentence.
  because      text,
  why          text,
  PRIMARY KEY (plan, number),
  CONSTRAINT plan_item_once UNIQUE (plan, entry),
  CONSTRAINT plan_item_excluded CHECK (included = (because IS NULL))
);

-- Runs, stops and ends of a plan, in order. A run without an end was killed, or is still at it.
CREATE TABLE counterfoil.plan_event (
  plan   uuid NOT NULL,
  number integer NOT NULL CHECK (number >= 1),
  kind   text NOT NULL CHECK (kind IN ('run', 'canary_passed', 'stop', 'end')),
  -- Of an end: how it ended.
  detail text,
  actor  text NOT NULL CHECK (octet_length(actor) BETWEEN 1 AND 64),
  act    uuid,
  at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (plan, number)
);

-- What became of each item, written with the change itself: an item is never done twice.
CREATE TABLE counterfoil.plan_result (
  plan   uuid NOT NULL,
  number integer NOT NULL,
  run    integer NOT NULL,
  result text NOT NULL CHECK (result IN ('done', 'skipped')),
  why    text,
  act    uuid,
  at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (plan, number),
  CONSTRAINT plan_result_why CHECK ((result = 'done') = (act IS NOT NULL) AND (result = 'done' OR why IS NOT NULL))
);

DO $$
DECLARE evidence text;
BEGIN
  FOREACH evidence IN ARRAY ARRAY['again_request', 'again_answer', 'plan', 'plan_item', 'plan_event', 'plan_result'] LOOP
    EXECUTE format('CREATE TRIGGER evidence BEFORE UPDATE OR DELETE OR TRUNCATE ON counterfoil.%I
                    FOR EACH STATEMENT EXECUTE FUNCTION counterfoil.refuse_change()', evidence);
  END LOOP;
END $$;

GRANT SELECT ON counterfoil.again_request, counterfoil.again_answer, counterfoil.plan, counterfoil.plan_item,
  counterfoil.plan_event, counterfoil.plan_result TO counterfoil_viewer, counterfoil_operator;
GRANT INSERT ON counterfoil.again_request, counterfoil.again_answer, counterfoil.plan, counterfoil.plan_item,
  counterfoil.plan_event, counterfoil.plan_result TO counterfoil_operator;
-- A right to lock: an act takes the place of a lease only while it holds the row that the lease would take.
GRANT UPDATE (due_at) ON counterfoil.due TO counterfoil_operator;
