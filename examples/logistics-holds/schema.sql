-- What the warehouse owns: stock, and holds on it.
CREATE SCHEMA IF NOT EXISTS logistics;

CREATE TABLE IF NOT EXISTS logistics.inventory (
  sku       text PRIMARY KEY,
  available integer NOT NULL CHECK (available >= 0),
  -- A second release of one hold would drive this below zero, or the count out of balance.
  held      integer NOT NULL DEFAULT 0 CHECK (held >= 0)
);

CREATE TABLE IF NOT EXISTS logistics.hold (
  reservation_id text PRIMARY KEY,
  sku            text NOT NULL REFERENCES logistics.inventory,
  quantity       integer NOT NULL CHECK (quantity > 0),
  status         text NOT NULL DEFAULT 'held' CHECK (status IN ('held', 'shipped', 'expired')),
  hold_until     timestamptz NOT NULL
);

CREATE INDEX IF NOT EXISTS hold_held ON logistics.hold (hold_until) WHERE status = 'held';
