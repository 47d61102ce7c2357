/**
 * What a close does to the rows of `closed`, the leases that were just deleted together with their close. Shared by the
 * owner's close and the rescuer's, so that both leave the same evidence. Every insert into `due` comes from a deleted
 * lease of the same statement, which is how an entry can't be in two places (I12).
 */
export const WRITE_CLOSED = `
recorded AS (
  INSERT INTO counterfoil.attempt
    (entry, number, token, worker, opened_at, outcome, status, repeat, cause, detail, duration_ms, key_sent,
     digest_sent, decision, decision_reason, next_due_at)
  SELECT entry, attempt, token, worker, opened_at, outcome, status, repeat, cause, detail, duration_ms, key_sent,
         digest_sent, decision, decision_reason,
         clock_timestamp() + due_in_ms * interval '1 millisecond'
    FROM closed
), finished AS (
  UPDATE counterfoil.entry e
     SET state = c.final_state, repeat = CASE WHEN c.outcome = 'accepted' THEN c.repeat END,
         reason = CASE WHEN c.final_state <> 'delivered' THEN c.decision_reason END,
         attempts = c.attempt, tries = c.tries + c.spends::int, closed_at = clock_timestamp(),
         first_sent_at = CASE WHEN NOT (c.takes_back AND c.first_send) THEN c.first_sent_at END,
         uncertain_since = CASE WHEN c.outcome <> 'accepted' AND c.decision_reason IS DISTINCT FROM 'rejected_for_all'
                                THEN c.doubt_since END
    FROM closed c
   WHERE e.id = c.entry AND c.final_state IS NOT NULL
), requeued AS (
  INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries, first_sent_at, uncertain_since)
  SELECT entry, destination, clock_timestamp() + due_in_ms * interval '1 millisecond', attempt, tries + spends::int,
         CASE WHEN NOT (takes_back AND first_send) THEN first_sent_at END, doubt_since
    FROM closed
   WHERE due_in_ms IS NOT NULL
), asked_pause AS (
  -- The gravest reason of the batch counts, and the longest time of it; no time is until somebody resumes it.
  SELECT DISTINCT ON (destination) destination, pause_reason,
         clock_timestamp() + pause_ms * interval '1 millisecond' AS until, detail
    FROM closed
   WHERE pause_reason IS NOT NULL
   ORDER BY destination, array_position('{gone,credentials,throttled}'::text[], pause_reason), pause_ms DESC NULLS FIRST
), paused AS (
  INSERT INTO counterfoil.destination_state AS s (destination, paused_reason, paused_at, paused_until, detail)
  SELECT destination, pause_reason, clock_timestamp(), until, detail FROM asked_pause
  ON CONFLICT (destination) DO UPDATE
     SET paused_reason = excluded.paused_reason, paused_at = coalesce(s.paused_at, excluded.paused_at),
         paused_until = CASE WHEN s.paused_reason = excluded.paused_reason AND s.paused_until IS NOT NULL
                             THEN greatest(s.paused_until, excluded.paused_until)
                             ELSE excluded.paused_until END,
         detail = excluded.detail
   -- A person's pause, or a graver reason that is still in force, is not replaced by a lighter one.
   WHERE s.paused_reason IS NULL OR s.paused_until <= clock_timestamp()
      OR array_position('{operator,gone,credentials,throttled}'::text[], s.paused_reason)
         >= array_position('{operator,gone,credentials,throttled}'::text[], excluded.paused_reason)
), cleared AS (
  -- Only an answer to a request that left after the pause was over says that it may end.
  UPDATE counterfoil.destination_state s
     SET paused_reason = NULL, paused_at = NULL, paused_until = NULL, detail = NULL
   WHERE s.paused_reason IN ('credentials', 'throttled') AND s.paused_until <= clock_timestamp()
     AND NOT EXISTS (SELECT FROM asked_pause p WHERE p.destination = s.destination)
     AND EXISTS (SELECT FROM closed c WHERE c.destination = s.destination AND c.opened_at >= s.paused_until
                                        AND c.outcome IN ('accepted', 'rejected') AND c.status IS NOT NULL)
)`

/** What `WRITE_CLOSED` reads of a lease `l` and its close `i`. */
export const CLOSED_COLUMNS = `
  l.entry, l.destination, l.token, l.worker, l.attempt, l.tries, l.opened_at, l.first_sent_at, l.first_send, l.late,
  coalesce(l.uncertain_since, CASE WHEN i.in_doubt THEN l.opened_at END) AS doubt_since,
  i.outcome, i.status, i.repeat, i.cause, i.detail, i.duration_ms, i.key_sent, i.digest_sent, i.decision,
  i.decision_reason, i.spends, i.takes_back, i.final_state, i.due_in_ms, i.pause_reason, i.pause_ms`
