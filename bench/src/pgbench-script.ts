/**
 * What one push leaves in the database, as pgbench writes it: delivery, content, observation, two references, one
 * entry, due and the ack, in one transaction. One prepared statement is the strongest form that we know for
 * pgbench: with a statement a table it needs ten round trips and reaches about half.
 *
 * @param padding bytes of filler in the body, as the load generator sends them
 */
export function writePgbenchScript(padding: number): string {
  return `\\set number random(1, 1000000000)
WITH made AS (
  SELECT uuidv7() AS delivery, uuidv7() AS observation, uuidv7() AS entry, gen_random_uuid()::text AS id,
         convert_to('{"type":"ticket.updated","ticket":"ticket-' || :number || '","customer":"c-1","note":"${'x'.repeat(padding)}"}', 'UTF8') AS body
), claimed AS (
  INSERT INTO counterfoil.delivery (id, source, delivery_id, identity_digest, event_type, disposition)
  SELECT delivery, 'bench', id, sha256(body), 'ticket.updated', 'act' FROM made
  ON CONFLICT DO NOTHING RETURNING id
), content AS (
  INSERT INTO counterfoil.delivery_content (delivery, body, content_type)
  SELECT delivery, body, 'application/json' FROM made JOIN claimed ON claimed.id = made.delivery
), observed AS (
  INSERT INTO counterfoil.observation (delivery, number, id, kind, key_id, instance)
  SELECT delivery, 1, observation, 'first', 'bench', 'pgbench' FROM made JOIN claimed ON claimed.id = made.delivery
), referenced AS (
  INSERT INTO counterfoil.reference (value, name, delivery)
  SELECT v.value, v.name, delivery FROM made JOIN claimed ON claimed.id = made.delivery,
         LATERAL (VALUES ('ticket-' || :number, 'ticket'), ('c-' || :number % 5000, 'customer')) v(value, name)
), entered AS (
  INSERT INTO counterfoil.entry (id, delivery, destination, idempotency_key, body, body_digest, content_type)
  SELECT made.entry, made.delivery, 'sink', made.id || '/notify', body, sha256(body), 'application/json'
  FROM made JOIN claimed ON claimed.id = made.delivery
  ON CONFLICT DO NOTHING RETURNING id
), due AS (
  INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries)
  SELECT id, 'sink', clock_timestamp(), 0, 0 FROM entered
)
INSERT INTO counterfoil.ack (delivery, observation, status, result, answered_at)
SELECT delivery, observation, 204, 'written', clock_timestamp() FROM made;
`
}
