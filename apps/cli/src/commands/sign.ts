import type { JsonWebKey } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { Option } from 'commander'
import type { Registration } from '../program.js'
import { shapePush } from '../push/shape-push.js'
import { openSigner, type Signer, type SignerOptions } from '../sign/open-signer.js'
import { permitSigning, type SigningConsent } from '../sign/permit-signing.js'
import { type SignedRequest, signRequest } from '../sign/sign-request.js'
import { requestDocument, writeCurl, writeRaw } from '../sign/write-request.js'
import { addContractOptions } from '../signature/contract-options.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { collectHeader, parseSignedTime } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'
import { readInput } from '../terminal/read-input.js'
import type { Terminal } from '../terminal/terminal.js'

type SignOptions = SignerOptions &
  SigningConsent & {
    body: string
    id?: string
    type?: string
    contentType: string
    header: Record<string, string>
    at?: number
    curl?: true
    json?: true
    writeBody?: string
    writeJwks?: string
  }

export const registerSign: Registration = (program, terminal) => {
  const command = program
    .command('sign')
    .description('print a validly signed request, as its sender would make it; nothing is sent')
  addContractOptions(command)
    .option('--key <id>', 'with --source: which of its keys; with --private-key: its name (kid)')
    .option(
      '--private-key <file>',
      'PEM, where only a private half signs: ed25519, or RSA for senders with fetched keys',
    )
    .option('--body <file>', 'the body, byte for byte; - is stdin', '-')
    .option('--id <id>', 'the delivery id; default the one in the body, or a new one')
    .option('--type <type>', 'the event type, where the source expects it')
    .option('--content-type <type>', 'of the body', 'application/json')
    .addOption(
      new Option('--header <name:value>', 'a further header; may be repeated')
        .argParser(collectHeader)
        .default({}, 'none'),
    )
    .addOption(
      new Option('--at <time>', 'sign this time: 2026-11-29T14:00Z, 90m ago, or an epoch; default now').argParser(
        parseSignedTime,
      ),
    )
    .option('--curl', 'print a curl command, with the body from its file')
    .option('--json', 'print one JSON document, with the body in base64')
    .option('--write-body <file>', 'write the body there, for --curl where it is not the file as it was given')
    .option('--write-jwks <file>', 'write the public half of --private-key there as a key set')
    .option(
      '--force',
      'sign with a configured key that is no demo key; needs an operator and --reason, and is recorded',
    )
    .option('--reason <text>', 'why it is forced; kept for good', parseReason)
    .addHelpText(
      'after',
      "\nWhat it prints, 'counterfoil verify' accepts. A static token is part of the request that it belongs to.\n\n" +
        'Examples:\n  counterfoil sign --source tickets --body event.json > push.http\n' +
        '  counterfoil sign --preset github --secret-env GITHUB_WEBHOOK_SECRET --body event.json --curl\n',
    )
    .action(async (options: SignOptions) => {
      if (options.curl && options.json) throw new CommandFailure(EXIT.usage, '--curl and --json are both given')
      const at = options.at ?? Date.now()
      const signer = await openSigner(terminal, options, at)
      const { contract, pair } = signer
      const given = await readInput(terminal, options.body)
      const { body, headers, deliveryId } = shapePush(contract, {
        body: given,
        id: options.id ?? null,
        type: options.type ?? null,
        contentType: options.contentType,
        headers: options.header,
      })
      const url =
        options.url ??
        contract.publicUrl ??
        `http://127.0.0.1:${terminal.env.COUNTERFOIL_PORT || '8080'}${contract.path}`
      const signed = await signRequest(contract, pair, { body, headers, deliveryId }, url, at)
      const bodyFile = options.curl ? chooseBodyFile(signed, given, options) : null
      await permitSigning(terminal, signer, signed, deliveryId, options)
      if (options.writeBody !== undefined) await write(options.writeBody, signed.body)
      await tellTrust(terminal, pair.published, options.writeJwks)
      terminal.out(print(signer, signed, { at, deliveryId, bodyFile, json: options.json === true }))
    })
}

type Printing = {
  readonly at: number
  readonly deliveryId: string | null
  readonly bodyFile: string | null
  readonly json: boolean
}

function print(
  { of, pair }: Signer,
  signed: SignedRequest,
  { at, deliveryId, bodyFile, json }: Printing,
): string | Buffer {
  if (bodyFile !== null) return writeCurl(signed, bodyFile)
  if (!json) return writeRaw(signed)
  const whose = { source: 'source' in of ? of.source : null, preset: 'preset' in of ? of.preset : null }
  return `${JSON.stringify(requestDocument(signed, { ...whose, keyId: pair.key.id, signedAt: at, deliveryId }))}\n`
}

/** curl reads the body from a file, which must hold exactly what was signed. */
function chooseBodyFile(signed: SignedRequest, given: Buffer, options: SignOptions): string {
  if (options.writeBody !== undefined) return options.writeBody
  if (options.body !== '-' && signed.body.equals(given)) return options.body
  const why = options.body === '-' ? 'came from stdin' : 'is signed with other bytes than the file has'
  throw new CommandFailure(
    EXIT.usage,
    `curl needs the body in a file, and it ${why}`,
    'name a file for it with --write-body',
  )
}

/** A key that its owner doesn't publish is believed only by a receiver that was given it. */
async function tellTrust(terminal: Terminal, published: JsonWebKey | null, file: string | undefined): Promise<void> {
  if (published === null) {
    if (file === undefined) return
    throw new CommandFailure(EXIT.usage, '--write-jwks needs an RSA key as --private-key')
  }
  if (file !== undefined) await write(file, Buffer.from(`${JSON.stringify({ keys: [published] })}\n`))
  terminal.err(
    'counterfoil: the sender publishes another key than this, so that only a receiver which is given its public half\n' +
      "  believes it: 'counterfoil verify' by --jwks (see --write-jwks), or for SNS by --certificate with one of this key\n",
  )
}

async function write(file: string, bytes: Buffer): Promise<void> {
  try {
    await writeFile(file, bytes)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unwritable'
    throw new CommandFailure(EXIT.usage, `${file} can't be written: ${code}`)
  }
}
