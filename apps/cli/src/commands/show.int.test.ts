import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ACCEPTED,
  type Cli,
  FINISH,
  FINISH_REPEAT,
  HOLD,
  openCli,
  REPEATED,
  RETRY,
  TIMED_OUT,
} from '../cli.int-setup.js'

let cli: Cli
beforeAll(async () => {
  cli = await openCli()
})
afterAll(() => cli.end())

async function push(id: string, type: string, ticket: string, extra: readonly string[] = []) {
  const body = JSON.stringify({ type, ticketId: ticket, eventId: `${ticket}:${id}` })
  const args = ['push', '--source', 'tickets', '--id', id, '--first-retry', '20ms', ...extra]
  const result = await cli.run(args, {}, body)
  expect(result).toMatchObject({ code: 0 })
  await cli.waitForAnswers()
}

/** Times, ids and durations of this run, replaced by what they are. */
function settle(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z/g, '<at>')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, '<second>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replace(/sha256 [0-9a-f]{12}…/g, 'sha256 <digest>…')
    .replace(/at \S+-\d+-[0-9a-f]{6}$/gm, 'at <receiver>')
}

describe('counterfoil show', () => {
  it('tells the story of a lost response and a time-out as support would want it told', async () => {
    await push('d-1', 'ticket.updated', 'ticket-4821', ['--drop-response'])
    await cli.attempt('crm', TIMED_OUT, RETRY)
    await cli.attempt('crm', REPEATED, FINISH_REPEAT)
    const { code, stdout, stderr } = await cli.run(['show', 'ticket-4821'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(settle(stdout)).toMatchInlineSnapshot(`
      "ticket.updated from tickets, ticket ticket-4821
      delivery d-1  ·  our id <id>

      ✔✔ Delivered, repeat ignored · crm
        crm recognised attempt 2 as a repeat at <second> (200) and ignored it: it had already acted on
        attempt 1, whose answer did not reach us.
      pushes 2 (1 repeat absorbed) · attempts 2 · confirmed 1 · unknown 0
      entry <id>  ·  key ticket-4821:d-1/update

      Timeline (UTC)
        <at>    Pushed by tickets: first arrival
                                    signed with demo-1  ·  at <receiver>
        <at>    Claimed and committed
        <at>    Queued for crm
                                    key ticket-4821:d-1/update  ·  content sha256 <digest>…
        <at>    Answered 204
        <at>    Pushed by tickets: repeat, absorbed
                                    signed with demo-1  ·  at <receiver>
        <at>    Answered 204
        <at>  ! Attempt 1 to crm: unknown: no answer came after 10.0 s; to be tried again at <second>, because the destination recognises its key
                                    UND_ERR_HEADERS_TIMEOUT  ·  key ticket-4821:d-1/update  ·  content sha256 <digest>…  ·  by worker-1
        <at>    Attempt 2 to crm: recognised as a repeat and ignored (200); done
                                    took 10.0 s  ·  key ticket-4821:d-1/update  ·  content sha256 <digest>…  ·  by worker-1
      "
    `)
  })

  it('says "Unknown" where nobody can tell, what to do, and never "not delivered" (I6)', async () => {
    await push('d-2', 'ticket.solved', 'ticket-4822')
    await cli.attempt('crm', ACCEPTED, FINISH)
    await cli.attempt('mailer', TIMED_OUT, HOLD, false)
    const { code, stdout } = await cli.run(['show', 'ticket-4822'])
    expect(code).toBe(0)
    expect(stdout.toLowerCase()).not.toContain('not delivered')
    expect(settle(stdout)).toMatchInlineSnapshot(`
      "ticket.solved from tickets, ticket ticket-4822
      delivery d-2  ·  our id <id>

      ◈ Unknown · 1 of 2 actions
      pushes 1 · attempts 2 · confirmed 1 · unknown 1

      crm  attempts 1 · confirmed 1 · unknown 0
        ✔ Delivered once
          crm accepted attempt 1 at <second> (202).
        entry <id>  ·  key ticket-4822:d-2/update

      mailer  attempts 1 · confirmed 0 · unknown 1
        ◈ Unknown
          We cannot tell whether mailer acted on attempt 1: no answer came after 10.0 s. It is held: it is not sent
          again by itself, because the destination has no key to recognise a repeat by.
          What to do: Find out at mailer whether it acted, by the key ticket-4822:d-2/mail, and record it.
            counterfoil settle <id> --as delivered|not-delivered --evidence "…" --reason "…"
        entry <id>  ·  key ticket-4822:d-2/mail

      Timeline (UTC)
        <at>    Pushed by tickets: first arrival
                                    signed with demo-1  ·  at <receiver>
        <at>    Claimed and committed
        <at>    Queued for crm
                                    key ticket-4822:d-2/update  ·  content sha256 <digest>…
        <at>    Queued for mailer
                                    key ticket-4822:d-2/mail  ·  content sha256 <digest>…
        <at>    Answered 204
        <at>    Attempt 1 to crm: accepted (202); done
                                    took 10.0 s  ·  key ticket-4822:d-2/update  ·  content sha256 <digest>…  ·  by worker-1
        <at>  ! Attempt 1 to mailer: unknown: no answer came after 10.0 s; held as uncertain, because the destination recognises no repeat
                                    UND_ERR_HEADERS_TIMEOUT  ·  no key sent  ·  content sha256 <digest>…  ·  by worker-1
      "
    `)
    expect((await cli.run(['show', 'ticket-4822', '--exit-code'])).code).toBe(6)
    expect((await cli.run(['show', 'ticket-4821', '--exit-code'])).code).toBe(0)
  })

  it('prints one JSON document with the same verdict, in snake_case and ISO time', async () => {
    const { code, stdout } = await cli.run(['show', 'ticket-4821:d-1/update', '--json'])
    expect(code).toBe(0)
    const document = JSON.parse(stdout)
    expect(document).toMatchObject({
      schema_version: 1,
      query: 'ticket-4821:d-1/update',
      verdict: null,
      matches: [
        {
          kind: 'delivery',
          matched_by: ['idempotency_key'],
          verdict: { kind: 'delivered_repeat_ignored', label: 'Delivered, repeat ignored' },
          counters: { pushes: 2, repeats: 1, attempts: 2, confirmed: 1, unknown: 0 },
          delivery: { source: 'tickets', delivery_id: 'd-1', claimed_at: expect.stringMatching(/^\d{4}-.*Z$/) },
          entries: [{ destination: 'crm', attempts: [{ number: 1 }, { number: 2 }] }],
        },
      ],
    })
  })

  it('lists several matches, newest first, and tells each', async () => {
    await push('d-3', 'ticket.updated', 'ticket-4821')
    await cli.attempt('crm', ACCEPTED, FINISH)
    const { stdout } = await cli.run(['show', 'ticket-4821'])
    expect(stdout).toMatch(/^2 matches for ticket-4821, newest first\n/)
    expect(stdout.indexOf('tickets d-3')).toBeLessThan(stdout.indexOf('tickets d-1'))
    expect(stdout.match(/Timeline \(UTC\)/g)).toHaveLength(2)
  })

  it('exits 3 with "No record" for what is not there, and shows what was typed harmlessly (B087)', async () => {
    const { code, stdout } = await cli.run(['show', '\u001b[2Jticket\n-0'])
    expect(code).toBe(3)
    expect(stdout).toContain('No record')
    expect(stdout).toContain('\\x1b[2Jticket\\x0a-0')
    expect(stdout).not.toContain('\u001b')
    expect(JSON.parse((await cli.run(['show', 'nothing', '--json'])).stdout)).toMatchObject({
      matches: [],
      verdict: { kind: 'no_record' },
    })
  })
})

describe('counterfoil find', () => {
  it('lists deliveries with their verdicts as a table, as one document and line by line', async () => {
    const table = await cli.run(['find'])
    expect(table.code).toBe(0)
    const [head, ...rows] = table.stdout.trimEnd().split('\n')
    expect(head).toMatch(/^Claimed \(UTC\) +Verdict +Type +Source +Delivery +References +Destinations +Att\.$/)
    expect(rows.map((row) => /d-\d/.exec(row)?.[0])).toEqual(['d-3', 'd-2', 'd-1'])
    const json = JSON.parse((await cli.run(['find', '--json'])).stdout)
    expect(json).toMatchObject({ schema_version: 1, next: null })
    expect(json.deliveries).toHaveLength(3)
    const lines = (await cli.run(['find', '--jsonl'])).stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).delivery.delivery_id)).toEqual(['d-3', 'd-2', 'd-1'])
  })

  it('filters by verdict, type, destination and time, and goes on from a cursor', async () => {
    const ids = async (...args: string[]) =>
      JSON.parse((await cli.run(['find', '--json', ...args])).stdout).deliveries.map(
        (one: { delivery: { delivery_id: string } }) => one.delivery.delivery_id,
      )
    expect(await ids('--verdict', 'unknown')).toEqual(['d-2'])
    expect(await ids('--verdict', 'delivered_repeat_ignored')).toEqual(['d-1'])
    expect(await ids('--type', 'ticket.solved')).toEqual(['d-2'])
    expect(await ids('--destination', 'mailer')).toEqual(['d-2'])
    expect(await ids('--until', '1h')).toEqual([])
    const page = JSON.parse((await cli.run(['find', '--json', '--limit', '2'])).stdout)
    expect(await ids('--after', page.next)).toEqual(['d-1'])
  })

  it('refuses what it does not know, with exit code 2', async () => {
    expect((await cli.run(['find', '--verdict', 'sent'])).code).toBe(2)
    expect((await cli.run(['find', '--since', 'yesterday'])).code).toBe(2)
  })
})
