import { createHash } from 'node:crypto'
import type { SigningKey, SourceContract } from '@counterfoil/core'
import { recordForcedPush } from '@counterfoil/db'
import { Option } from 'commander'
import type { Registration } from '../program.js'
import { attemptDocument, describeAttempt, describeResults, exitCodeOf } from '../push/describe-pushes.js'
import { chooseKey, judgePush } from '../push/permit-push.js'
import { runPushes } from '../push/run-pushes.js'
import { type ShapedPush, shapePush } from '../push/shape-push.js'
import { escapeForTerminal } from '../render/escape-for-terminal.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { findSource } from '../terminal/find-source.js'
import { openAct } from '../terminal/open-act.js'
import { findConfigPath, openConfig } from '../terminal/open-service.js'
import { collectHeader, parseCount, parseDuration } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'
import { readInput } from '../terminal/read-input.js'
import type { Terminal } from '../terminal/terminal.js'

type PushOptions = {
  source: string
  url?: string
  id?: string
  type?: string
  file: string
  contentType: string
  header: Record<string, string>
  key?: string
  repeat: number
  concurrency: number
  tamper?: true
  stale?: number
  dropResponse?: true
  firstRetry: number
  maxRetry: number
  maxAge: number
  force?: true
  reason?: string
  config?: string
  json?: true
}

export const registerPush: Registration = (program, terminal, exit) => {
  program
    .command('push')
    .description('sign a body and push it like a queue would, until it is acknowledged')
    .requiredOption('--source <name>', 'whose keys, headers and id to use, as configured')
    .option('--file <file>', 'the body, byte for byte; - is stdin', '-')
    .option('--url <url>', "where to; default the source's public URL, else this machine's receiver")
    .option('--id <id>', 'the delivery id; default the one in the body, or a new one')
    .option('--type <type>', 'the event type, where the source expects it')
    .option('--content-type <type>', 'of the body', 'application/json')
    .addOption(
      new Option('--header <name:value>', 'a further header; may be repeated')
        .argParser(collectHeader)
        .default({}, 'none'),
    )
    .option('--key <id>', 'which of its keys; default the first that is active')
    .option('--repeat <n>', 'push the same delivery this often', parseCount(1, 100_000), 1)
    .option('--concurrency <n>', 'so many at once', parseCount(1, 1_000), 1)
    .option('--tamper', 'change one byte after signing')
    .option('--stale <seconds>', 'sign a time this far in the past', parseCount(0, 10_000_000))
    .option('--drop-response', 'close the connection when the first answer comes, so that it is lost')
    .addOption(duration('--first-retry <time>', 'about how long to wait before the second try', 5_000, '5s'))
    .addOption(duration('--max-retry <time>', 'the longest wait between two tries', 60_000, '1m'))
    .addOption(duration('--max-age <time>', 'give up (exit 8) when it is this old', 15 * 60_000, '15m'))
    .option('--force', 'push with a real key to another machine; needs an operator and --reason, and is recorded')
    .option('--reason <text>', 'why it is forced; kept for good', parseReason)
    .option('--config <file>', 'another file than COUNTERFOIL_CONFIG')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExits 0 when every copy was acknowledged, 1 when one was refused for good, 8 when one became too old.\n\n' +
        'Example:\n  echo \'{"ticket":"ticket-4821"}\' | counterfoil push --source tickets --repeat 3 --concurrency 3\n',
    )
    .action(async (options: PushOptions) => {
      const config = await openConfig(terminal, findConfigPath(terminal, options.config))
      const source = findSource(config, options.source)
      const key = chooseKey(source.keys(), options.key ?? null, Date.now())
      if (key === null) throw new CommandFailure(EXIT.usage, `${source.name} has no such active key`)
      refuseUnsignable(source, options)
      const url = chooseUrl(terminal, source, options.url)
      const push = shapePush(source, {
        body: await readInput(terminal, options.file),
        id: options.id ?? null,
        type: options.type ?? null,
        contentType: options.contentType,
        headers: options.header,
      })
      await permit(terminal, { source, key, url, push, options })
      exit(await pushAll(terminal, { source, key, url, push, options }))
    })
}

type Prepared = {
  readonly source: SourceContract
  readonly key: SigningKey
  readonly url: URL
  readonly push: ShapedPush
  readonly options: PushOptions
}

async function pushAll(terminal: Terminal, { source, key, url, push, options }: Prepared) {
  const results = await runPushes({
    source,
    key,
    url,
    push,
    plan: { firstRetryMs: options.firstRetry, maxRetryMs: options.maxRetry, maxAgeMs: options.maxAge },
    copies: options.repeat,
    concurrency: options.concurrency,
    staleMs: (options.stale ?? 0) * 1000,
    tamper: options.tamper === true,
    dropResponse: options.dropResponse === true,
    signal: terminal.interrupted,
    onAttempt: (copy, attempt, nextInMs) =>
      terminal.err(`${escapeForTerminal(describeAttempt(copy, options.repeat, attempt, nextInMs))}\n`),
  })
  if (options.json) {
    const copies = results.map(({ kind, attempts }) => ({ result: kind, attempts: attempts.map(attemptDocument) }))
    const head = { schemaVersion: 1, source: source.name, keyId: key.id, url: url.href, deliveryId: push.deliveryId }
    terminal.out(`${JSON.stringify(toSnakeCase({ ...head, copies }))}\n`)
  } else {
    const id = push.deliveryId === null ? '' : `delivery ${push.deliveryId}: `
    terminal.out(`${escapeForTerminal(id)}${describeResults(results)}\n`)
  }
  return exitCodeOf(results)
}

/** With a real key off this machine: only forced, by an operator, written down before it goes out (I9). */
async function permit(terminal: Terminal, { source, key, url, push, options }: Prepared): Promise<void> {
  const permission = judgePush(url, key)
  if (permission.kind === 'free') return
  if (!options.force) {
    const next = 'use a key whose id starts with demo, or --force with an operator token and --reason'
    throw new CommandFailure(EXIT.refused, `refused: ${permission.why}`, next)
  }
  if (options.reason === undefined)
    throw new CommandFailure(EXIT.usage, '--force needs --reason: why this push is made by hand')
  const bodySha256 = createHash('sha256').update(push.body).digest('hex')
  const forced = { source: source.name, keyId: key.id, origin: url.origin, deliveryId: push.deliveryId, bodySha256 }
  const act = await openAct(terminal, options.reason, ({ database, request }) =>
    recordForcedPush(database, forced, request),
  )
  terminal.err(`forced push on record (act ${act})\n`)
}

function duration(flags: string, description: string, ms: number, shown: string): Option {
  return new Option(flags, description).argParser(parseDuration).default(ms, shown)
}

function refuseUnsignable(source: SourceContract, options: PushOptions): void {
  if (source.sign === null) {
    throw new CommandFailure(EXIT.usage, `${source.name} has a scheme of its own that cannot be signed here`)
  }
  if (options.stale !== undefined && !source.binds.time) {
    throw new CommandFailure(EXIT.usage, `--stale has no effect: the signature of ${source.name} binds no time`)
  }
}

function chooseUrl(terminal: Terminal, source: SourceContract, given: string | undefined): URL {
  const port = terminal.env.COUNTERFOIL_PORT || '8080'
  const text = given ?? source.publicUrl ?? `http://127.0.0.1:${port}${source.path}`
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new CommandFailure(EXIT.usage, `${text} is not an http or https URL`)
  }
  return url
}
