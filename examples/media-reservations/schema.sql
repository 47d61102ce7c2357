-- What the screening's shop owns. Counterfoil changes one column of it, under its own condition.
CREATE SCHEMA IF NOT EXISTS media;

CREATE TABLE IF NOT EXISTS media.reservation (
  id         text PRIMARY KEY,
  title_id   text NOT NULL,
  seat       text NOT NULL,
  status     text NOT NULL DEFAULT 'held' CHECK (status IN ('held', 'paid', 'expired')),
  expires_at timestamptz NOT NULL,
  paid_at    timestamptz
);

-- The sweep looks for holds that are overdue.
CREATE INDEX IF NOT EXISTS reservation_held ON media.reservation (expires_at) WHERE status = 'held';
