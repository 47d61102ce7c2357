/**
 * How an entry `e` stands, as one text that changes with every change of its state: a decision on an older picture is
 * recognised by it. Microseconds count, so times are compared as the database writes them.
 */
export const ENTRY_VERSION = `(e.state || ' ' || e.attempts || ' ' || coalesce(extract(epoch FROM e.closed_at)::text, '-')
  || ' ' || coalesce(extract(epoch FROM e.redriven_at)::text, '-'))`
