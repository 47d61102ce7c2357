-- Reconciliation: what is asked about entries whose effect is in doubt, and what the destination's own record said.

-- The doubts that are open: one row per entry held as uncertain, made and taken away with that state by the triggers
-- below, so that whoever holds or ends an entry, by whatever path, can't forget it (I12). Narrow: a queue, not evidence.
CREATE TABLE counterfoil.reconciliation (
  entry        uuid PRIMARY KEY,
  destination  text COLLATE "C" NOT NULL,
  -- The entry's closed_at: with its number of attempts the version that a finding is about.
  held_at      timestamptz NOT NULL,
  attempts     integer NOT NULL,
  -- When to ask next; NULL: nobody asks by itself any more.
  next_at      timestamptz,
  probes       integer NOT NULL DEFAULT 0 CHECK (probes >= 0),
  -- Who asks right now: never two at once.
  token        uuid,
  leased_until timestamptz,
  -- From then on it is overdue and a person has to look; NULL until a worker that knows the contract has seen it.
  review_by    timestamptz,
  CONSTRAINT reconciliation_lease CHECK ((token IS NULL) = (leased_until IS NULL))
);
CREATE INDEX reconciliation_next ON counterfoil.reconciliation (destination, next_at);
CREATE INDEX reconciliation_unseen ON counterfoil.reconciliation (destination) WHERE review_by IS NULL;

-- One question, on record before its request leaves. Without a finding of the same number it was asked, and whoever
-- asked did not live to write the answer down.
CREATE TABLE counterfoil.lookup (
  entry       uuid NOT NULL,
  number      integer NOT NULL CHECK (number >= 1),
  token       uuid NOT NULL,
  destination text COLLATE "C" NOT NULL,
  -- The worker, or the operator in whose name it was asked.
  asked_by    text NOT NULL,
  act         uuid,
  attempts    integer NOT NULL,
  held_at     timestamptz NOT NULL,
  asked_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (entry, number)
);

-- What came back, and what followed from it.
CREATE TABLE counterfoil.finding (
  entry       uuid NOT NULL,
  number      integer NOT NULL CHECK (number >= 1),
  finding     text NOT NULL CHECK (finding IN ('took_effect', 'did_not', 'still_unknown')),
  status      smallint,
  -- Why it is still unknown, or why the finding was not acted upon.
  cause       text,
  -- For people: sanitised, bounded, never a payload.
  detail      text CHECK (octet_length(detail) <= 1000),
  duration_ms integer,
  effect      text NOT NULL
              CHECK (effect IN ('delivered', 'returned', 'dead_lettered', 'asked_again', 'waits_for_person', 'kept')),
  answered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (entry, number)
);

CREATE FUNCTION counterfoil.open_doubt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO counterfoil.reconciliation (entry, destination, held_at, attempts, next_at)
  VALUES (NEW.id, NEW.destination, NEW.closed_at, NEW.attempts, NEW.closed_at)
  ON CONFLICT (entry) DO UPDATE
     SET held_at = excluded.held_at, attempts = excluded.attempts, next_at = excluded.next_at, probes = 0,
         token = NULL, leased_until = NULL, review_by = NULL;
  RETURN NULL;
END $$;

CREATE FUNCTION counterfoil.close_doubt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM counterfoil.reconciliation WHERE entry = OLD.id;
  RETURN NULL;
END $$;

-- Rare next to deliveries, whose closes only evaluate the two conditions. An index on the state instead would end the
-- HOT updates of every entry.
CREATE TRIGGER doubt_opens AFTER UPDATE OF state ON counterfoil.entry FOR EACH ROW
  WHEN (NEW.state = 'uncertain' AND OLD.state <> 'uncertain') EXECUTE FUNCTION counterfoil.open_doubt();
CREATE TRIGGER doubt_closes AFTER UPDATE OF state ON counterfoil.entry FOR EACH ROW
  WHEN (OLD.state = 'uncertain' AND NEW.state <> 'uncertain') EXECUTE FUNCTION counterfoil.close_doubt();

-- What was held before there was a reconciler.
INSERT INTO counterfoil.reconciliation (entry, destination, held_at, attempts, next_at)
SELECT id, destination, closed_at, attempts, closed_at FROM counterfoil.entry WHERE state = 'uncertain';

ALTER TABLE counterfoil.act DROP CONSTRAINT IF EXISTS act_action_check;
ALTER TABLE counterfoil.act ADD CONSTRAINT act_action_check CHECK (action IN (
  'redrive', 'settle', 'release', 'discard', 'resume', 'push', 'pause', 'skip', 'cancel', 'send_again', 'approve', 'bulk',
  'reconcile'));

DO $$
DECLARE evidence text;
BEGIN
  FOREACH evidence IN ARRAY ARRAY['lookup', 'finding'] LOOP
    EXECUTE format('CREATE TRIGGER evidence BEFORE UPDATE OR DELETE OR TRUNCATE ON counterfoil.%I
                    FOR EACH STATEMENT EXECUTE FUNCTION counterfoil.refuse_change()', evidence);
  END LOOP;
END $$;

GRANT SELECT ON counterfoil.reconciliation, counterfoil.lookup, counterfoil.finding
  TO counterfoil_viewer, counterfoil_operator;
-- A person may ask, and ends a doubt by settling it.
GRANT INSERT ON counterfoil.lookup, counterfoil.finding TO counterfoil_operator;
GRANT INSERT, UPDATE, DELETE ON counterfoil.reconciliation TO counterfoil_operator;
