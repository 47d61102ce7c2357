-- What the demo's story needs beside the examples' own tables.
CREATE SCHEMA IF NOT EXISTS demo;

-- Each run of the story takes fresh numbers, so that a kept database never mixes two runs.
CREATE TABLE IF NOT EXISTS demo.run (
  number     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A gate inside the expiry of one seat: the story holds its lock, so that the winner of a race stands still in the
-- middle of its transaction while the loser runs into it.
CREATE OR REPLACE FUNCTION demo.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext(NEW.id));
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER gate AFTER UPDATE ON media.reservation
  FOR EACH ROW WHEN (NEW.seat = 'gate' AND NEW.status = 'expired') EXECUTE FUNCTION demo.wait_at_gate();
