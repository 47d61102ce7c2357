-- The delivery path: what was pushed, what we answered, what is to be sent, and what came of it.
-- Evidence tables are append-only for everybody. `due` and `lease` are narrow on purpose: every change of state
-- moves a short row, while the wide `entry` row is written once and updated once.

CREATE SCHEMA IF NOT EXISTS counterfoil;

-- ── Intake ──────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The claim (I2): one row per (source, delivery id), written by whoever came first.
CREATE TABLE counterfoil.delivery (
  id              uuid PRIMARY KEY,
  source          text COLLATE "C" NOT NULL CHECK (octet_length(source) BETWEEN 1 AND 64),
  delivery_id     text COLLATE "C" NOT NULL CHECK (octet_length(delivery_id) BETWEEN 1 AND 255),
  identity_digest bytea NOT NULL CHECK (octet_length(identity_digest) = 32),
  event_type      text,
  disposition     text NOT NULL CHECK (disposition IN ('act', 'ignored', 'quarantined')),
  reason          text,
  claimed_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT delivery_claim UNIQUE (delivery_id, source),
  CONSTRAINT delivery_reason CHECK ((disposition = 'act') = (reason IS NULL))
);

-- What a person has to look at; small, whatever the table grows to.
CREATE INDEX delivery_quarantined ON counterfoil.delivery (source) WHERE disposition = 'quarantined';

-- The bytes as they came. Erasable: the claim outlives its content.
CREATE TABLE counterfoil.delivery_content (
  delivery     uuid PRIMARY KEY,
  body         bytea,
  content_type text
);

-- One authenticated arrival that committed. The number counts the arrivals of a delivery from 1 in commit order,
-- without gaps: a concurrent arrival that took the same number waits on the key and counts again.
CREATE TABLE counterfoil.observation (
  delivery       uuid NOT NULL,
  number         integer NOT NULL,
  id             uuid NOT NULL,
  kind           text NOT NULL CHECK (kind IN ('first', 'duplicate', 'conflict')),
  key_id         text NOT NULL,
  sender_attempt integer,
  instance       text NOT NULL,
  observed_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (delivery, number),
  CONSTRAINT observation_first CHECK (number >= 1 AND (kind = 'first') = (number = 1))
);

-- What a conflicting arrival carried: same id, other identity digest.
CREATE TABLE counterfoil.conflict_content (
  observation     uuid PRIMARY KEY,
  delivery        uuid NOT NULL,
  identity_digest bytea NOT NULL CHECK (octet_length(identity_digest) = 32),
  body            bytea
);
CREATE INDEX conflict_content_delivery ON counterfoil.conflict_content (delivery);

-- An authenticated arrival that was answered "not now" on purpose: no claim, so its redelivery is not absorbed.
CREATE TABLE counterfoil.refused_observation (
  id              uuid PRIMARY KEY,
  source          text COLLATE "C" NOT NULL,
  delivery_id     text COLLATE "C" NOT NULL,
  outcome         text NOT NULL CHECK (outcome IN ('not_due')),
  retry_after_ms  integer NOT NULL CHECK (retry_after_ms >= 0),
  key_id          text NOT NULL,
  sender_attempt  integer,
  instance        text NOT NULL,
  observed_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX refused_observation_delivery ON counterfoil.refused_observation (delivery_id, source);

-- What the business row said. A deferred delivery gets a second row when its time has come.
CREATE TABLE counterfoil.transition_outcome (
  delivery   uuid NOT NULL,
  number     smallint NOT NULL CHECK (number >= 1),
  transition text NOT NULL,
  subject    text NOT NULL,
  outcome    text NOT NULL CHECK (outcome IN ('applied', 'no_longer_held', 'not_due', 'superseded', 'not_found')),
  decided_by text NOT NULL CHECK (decided_by IN ('push', 'deferral', 'sweep', 'release')),
  decided_at timestamptz NOT NULL,
  PRIMARY KEY (delivery, number)
);
CREATE INDEX transition_outcome_subject ON counterfoil.transition_outcome (subject, transition);

-- Deliveries that wait for their time. A queue, not evidence.
CREATE TABLE counterfoil.deferred (
  delivery uuid PRIMARY KEY,
  due_at   timestamptz NOT NULL
);
CREATE INDEX deferred_due ON counterfoil.deferred (due_at);

-- What was answered. No row reads: no ack on record, it may have been sent.
CREATE TABLE counterfoil.ack (
  delivery    uuid NOT NULL,
  observation uuid NOT NULL,
  status      smallint NOT NULL CHECK (status BETWEEN 100 AND 599),
  result      text NOT NULL CHECK (result IN ('written', 'not_written')),
  answered_at timestamptz NOT NULL,
  PRIMARY KEY (delivery, observation)
);

-- Authenticated, never claimed: open until a delivery with this (source, delivery id) exists.
CREATE TABLE counterfoil.unclaimed (
  id              uuid PRIMARY KEY,
  source          text COLLATE "C" NOT NULL,
  delivery_id     text COLLATE "C" NOT NULL,
  identity_digest bytea NOT NULL,
  cause           text NOT NULL,
  seen_at         timestamptz NOT NULL
);
CREATE INDEX unclaimed_delivery ON counterfoil.unclaimed (delivery_id, source);

-- What people search by.
CREATE TABLE counterfoil.reference (
  value    text COLLATE "C" NOT NULL CHECK (octet_length(value) BETWEEN 1 AND 255),
  name     text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 64),
  delivery uuid NOT NULL,
  personal boolean NOT NULL DEFAULT false,
  PRIMARY KEY (value, name, delivery)
);
CREATE INDEX reference_delivery ON counterfoil.reference (delivery);

-- ── Outbox ──────────────────────────────────────────────────────────────────────────────────────────────────────────

-- One business action for one destination (I3). Written once with its frozen bytes, updated once when it ends. No index
-- covers a column that changes, and more than half of each page is left free, so that update stays on its page (HOT).
-- With 15 % left free one update in six was HOT, and a cycle of lease and close took half as long again.
CREATE TABLE counterfoil.entry (
  id              uuid PRIMARY KEY,
  delivery        uuid NOT NULL,
  destination     text COLLATE "C" NOT NULL CHECK (octet_length(destination) BETWEEN 1 AND 64),
  idempotency_key text COLLATE "C" NOT NULL CHECK (octet_length(idempotency_key) BETWEEN 1 AND 255),
  body            bytea,
  body_digest     bytea NOT NULL CHECK (octet_length(body_digest) = 32),
  content_type    text NOT NULL,
  ordering_key    text,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The last time a person returned it to pending: its age counts from here.
  redriven_at     timestamptz,
  state           text NOT NULL DEFAULT 'pending'
                  CHECK (state IN ('pending', 'delivered', 'uncertain', 'dead_lettered', 'settled', 'cancelled')),
  -- Why it stands where it stands; NULL while pending.
  reason          text,
  repeat          boolean,
  attempts        integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  tries           integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
  first_sent_at   timestamptz,
  uncertain_since timestamptz,
  closed_at       timestamptz,
  CONSTRAINT entry_key UNIQUE (idempotency_key, destination),
  CONSTRAINT entry_closed CHECK ((state = 'pending') = (closed_at IS NULL)),
  CONSTRAINT entry_reason CHECK (state IN ('pending', 'delivered') OR reason IS NOT NULL),
  CONSTRAINT entry_bytes CHECK (body IS NOT NULL OR state <> 'pending'),
  -- Doubt ends by a definite answer or a person, never by giving up (I6).
  CONSTRAINT entry_doubt CHECK (uncertain_since IS NULL OR state NOT IN ('delivered', 'dead_lettered'))
) WITH (fillfactor = 45);
CREATE INDEX entry_delivery ON counterfoil.entry (delivery);

-- Another delivery asked for an action that an entry already stands for.
CREATE TABLE counterfoil.entry_link (
  delivery    uuid NOT NULL,
  entry       uuid NOT NULL,
  body_differs boolean NOT NULL,
  linked_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (delivery, entry)
);
CREATE INDEX entry_link_entry ON counterfoil.entry_link (entry);

-- What can be sent. The history travels in the row, so that a lease reads one narrow row.
CREATE TABLE counterfoil.due (
  entry           uuid PRIMARY KEY,
  destination     text COLLATE "C" NOT NULL,
  due_at          timestamptz NOT NULL,
  attempts        integer NOT NULL,
  tries           integer NOT NULL,
  first_sent_at   timestamptz,
  uncertain_since timestamptz
) WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  -- The lease statement's plan is cached. Made while this table is a few pages long it would be a sequential scan and
  -- a sort, and stay so while the table grows to 100k rows. Without statistics, and never truncated, it is the index.
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2147483647, vacuum_truncate = off
);
CREATE INDEX due_next ON counterfoil.due (destination, due_at);

-- What is being sent. The row is the evidence of its attempt before the first byte leaves (I4).
CREATE TABLE counterfoil.lease (
  entry           uuid PRIMARY KEY,
  destination     text COLLATE "C" NOT NULL,
  token           uuid NOT NULL,
  worker          text NOT NULL,
  attempt         integer NOT NULL CHECK (attempt >= 1),
  tries           integer NOT NULL,
  opened_at       timestamptz NOT NULL,
  expires_at      timestamptz NOT NULL CHECK (expires_at > opened_at),
  -- Set with the lease; taken back by a close that proves that nothing was sent.
  first_sent_at   timestamptz NOT NULL,
  uncertain_since timestamptz,
  -- Was `first_sent_at` set by this very lease?
  first_send      boolean NOT NULL,
  -- An outcome of an earlier lost lease came meanwhile: whoever closes this one applies it.
  late            boolean NOT NULL DEFAULT false
) WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2147483647, vacuum_truncate = off
);
CREATE INDEX lease_destination ON counterfoil.lease (destination, expires_at);

-- One try to send, as it ended.
CREATE TABLE counterfoil.attempt (
  entry           uuid NOT NULL,
  number          integer NOT NULL CHECK (number >= 1),
  token           uuid NOT NULL,
  worker          text NOT NULL,
  opened_at       timestamptz NOT NULL,
  closed_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  outcome         text NOT NULL
                  CHECK (outcome IN ('accepted', 'rejected', 'unauthorised', 'deferred', 'not_sent', 'uncertain')),
  status          smallint,
  repeat          boolean NOT NULL DEFAULT false,
  -- Phase of an uncertain one, reason of a rejected one, cause of one that was not sent.
  cause           text,
  -- Error code or excerpt for people: sanitised, bounded, never a payload.
  detail          text CHECK (octet_length(detail) <= 1000),
  duration_ms     integer,
  -- As it went out, so that sameness can be shown later (I3). NULL where nothing was sent.
  key_sent        text,
  digest_sent     bytea,
  -- What was decided next.
  decision        text NOT NULL CHECK (decision IN ('finish', 'retry', 'hold', 'dead_letter', 'pause', 'hand_back')),
  decision_reason text,
  next_due_at     timestamptz,
  PRIMARY KEY (entry, number),
  CONSTRAINT attempt_status CHECK (outcome IN ('not_sent', 'uncertain') OR status IS NOT NULL OR cause = 'unsendable')
);

-- An outcome that came after its lease was lost (I5): kept, never overwriting.
CREATE TABLE counterfoil.late_outcome (
  entry       uuid NOT NULL,
  number      integer NOT NULL,
  token       uuid NOT NULL,
  worker      text NOT NULL,
  outcome     text NOT NULL
              CHECK (outcome IN ('accepted', 'rejected', 'unauthorised', 'deferred', 'not_sent', 'uncertain')),
  status      smallint,
  repeat      boolean NOT NULL DEFAULT false,
  cause       text,
  detail      text CHECK (octet_length(detail) <= 1000),
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (entry, number, token)
);

-- Flow control, shared by the fleet. A paused destination drops nothing.
CREATE TABLE counterfoil.destination_state (
  destination   text COLLATE "C" PRIMARY KEY,
  paused_reason text CHECK (paused_reason IN ('credentials', 'throttled', 'operator', 'gone')),
  paused_at     timestamptz,
  -- NULL with a reason: until somebody resumes it.
  paused_until  timestamptz,
  detail        text,
  CONSTRAINT destination_paused CHECK ((paused_reason IS NULL) = (paused_at IS NULL))
);

-- ── People ──────────────────────────────────────────────────────────────────────────────────────────────────────────

-- What a person did, with who and why, written before it takes effect (I9).
CREATE TABLE counterfoil.act (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  actor       text NOT NULL CHECK (octet_length(actor) BETWEEN 1 AND 64),
  action      text NOT NULL CHECK (action IN ('redrive', 'settle', 'release', 'discard', 'resume', 'push')),
  reason      text NOT NULL CHECK (octet_length(reason) BETWEEN 3 AND 1000),
  entry       uuid,
  delivery    uuid,
  destination text,
  -- What the act changed, and the evidence that was given for it.
  detail      jsonb NOT NULL DEFAULT '{}',
  acted_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX act_entry ON counterfoil.act (entry);
CREATE INDEX act_delivery ON counterfoil.act (delivery);

-- Ends a claim whose snapshot was too old: an entry that another transaction committed meanwhile stands in its way, and
-- the link to it can't be written without seeing it. The caller runs the same statement again.
CREATE FUNCTION counterfoil.claim_again() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a concurrent entry is not visible yet' USING ERRCODE = 'serialization_failure';
END $$;

-- ── Evidence stays ──────────────────────────────────────────────────────────────────────────────────────────────────

CREATE FUNCTION counterfoil.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'counterfoil.% is evidence and append-only: % is refused', TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'insufficient_privilege';
END $$;

DO $$
DECLARE evidence text;
BEGIN
  FOREACH evidence IN ARRAY ARRAY['delivery', 'observation', 'refused_observation', 'transition_outcome', 'ack',
                                  'unclaimed', 'entry_link', 'attempt', 'late_outcome', 'act'] LOOP
    EXECUTE format('CREATE TRIGGER evidence BEFORE UPDATE OR DELETE OR TRUNCATE ON counterfoil.%I
                    FOR EACH STATEMENT EXECUTE FUNCTION counterfoil.refuse_change()', evidence);
  END LOOP;
END $$;

-- The bytes and the key of an entry are frozen (I3). Erasing content is the one change allowed.
CREATE FUNCTION counterfoil.keep_entry_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.delivery, NEW.destination, NEW.idempotency_key, NEW.body_digest, NEW.content_type, NEW.created_at)
     IS DISTINCT FROM
     (OLD.id, OLD.delivery, OLD.destination, OLD.idempotency_key, OLD.body_digest, OLD.content_type, OLD.created_at)
     OR (NEW.body IS NOT NULL AND NEW.body IS DISTINCT FROM OLD.body) THEN
    RAISE EXCEPTION 'entry % is frozen: its key and bytes never change', OLD.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER frozen
  BEFORE UPDATE OF id, delivery, destination, idempotency_key, body, body_digest, content_type, created_at
  ON counterfoil.entry FOR EACH ROW EXECUTE FUNCTION counterfoil.keep_entry_frozen();

CREATE FUNCTION counterfoil.keep_delivered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'entry % is delivered: that never changes', OLD.id USING ERRCODE = 'check_violation';
END $$;
-- AFTER, because a BEFORE trigger locks each row that a close updates once more, with a WAL record of its own.
CREATE TRIGGER delivered_stays
  AFTER UPDATE OF state ON counterfoil.entry FOR EACH ROW
  WHEN (OLD.state = 'delivered' AND NEW.state <> 'delivered') EXECUTE FUNCTION counterfoil.keep_delivered();

-- ── Roles ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Group roles, granted to login roles by whoever runs the database. Roles are shared by a cluster: make them once.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_viewer') THEN
    CREATE ROLE counterfoil_viewer NOLOGIN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_operator') THEN
    CREATE ROLE counterfoil_operator NOLOGIN;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL; -- another database of this cluster migrates at the same moment
END $$;

GRANT USAGE ON SCHEMA counterfoil TO counterfoil_viewer, counterfoil_operator;
GRANT SELECT ON ALL TABLES IN SCHEMA counterfoil TO counterfoil_viewer, counterfoil_operator;
-- An operator acts; what an act changes is named here, and evidence is not among it.
GRANT INSERT ON counterfoil.act TO counterfoil_operator;
GRANT UPDATE (state, reason, repeat, attempts, tries, first_sent_at, uncertain_since, closed_at, redriven_at)
  ON counterfoil.entry TO counterfoil_operator;
GRANT INSERT, DELETE ON counterfoil.due TO counterfoil_operator;
GRANT UPDATE ON counterfoil.destination_state TO counterfoil_operator;
GRANT INSERT ON counterfoil.entry, counterfoil.entry_link, counterfoil.transition_outcome, counterfoil.deferred,
  counterfoil.reference TO counterfoil_operator;
