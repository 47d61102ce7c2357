import { randomFillSync } from 'node:crypto'
import { type CaptureVerdict, createUuidV7Generator, judgeCapture } from '@counterfoil/core'
import { Option } from 'commander'
import type { Registration } from '../program.js'
import { escapeForTerminal } from '../render/escape-for-terminal.js'
import { addContractOptions, type ContractOptions } from '../signature/contract-options.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT, type ExitCode } from '../terminal/exit-codes.js'
import { parseSignedTime } from '../terminal/parse-options.js'
import { describeVerdict } from '../verify/describe-verdict.js'
import { judgeWithSecret } from '../verify/judge-with-secret.js'
import { listNotes } from '../verify/list-notes.js'
import { type MaterialOptions, openLocalMaterial } from '../verify/open-local-material.js'
import { openVerifier } from '../verify/open-verifier.js'
import { type CaptureOptions, readCapture } from '../verify/read-capture.js'
import { verdictDocument } from '../verify/verdict-document.js'

type VerifyOptions = ContractOptions & CaptureOptions & MaterialOptions & { at?: number; json?: true }

export const registerVerify: Registration = (program, terminal, exit) => {
  const command = program
    .command('verify')
    .description('say whether a captured request is validly signed, and if not, why')
    .argument('[capture]', 'request line, headers, an empty line, body; - or nothing is stdin')
  addContractOptions(command)
    .option('--headers <file>', 'instead of a capture: its header lines')
    .option('--body <file>', 'and its body, byte for byte')
    .option('--method <method>', 'and its method', 'POST')
    .addOption(
      new Option('--at <time>', 'judge at this time: 2026-11-29T14:00Z, 90m ago, or an epoch; default now').argParser(
        parseSignedTime,
      ),
    )
    .option('--jwks <file>', "the issuer's key set, instead of fetching it")
    .option('--certificate <file>', "SNS's certificate as PEM, instead of fetching it")
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExits 0 when it is valid, 6 when it is not, 2 when the capture or the options can not be read, 7 when keys can\n' +
        'not be fetched. Never prints a secret, a signature or the body.\n\n' +
        'Examples:\n  counterfoil verify push.http --source tickets\n' +
        '  counterfoil verify push.http --preset github --secret-env GITHUB_WEBHOOK_SECRET\n',
    )
    .action(async (file: string | undefined, options: VerifyOptions) => {
      const verifier = await openVerifier(terminal, options)
      const { contract, secretProblem } = verifier
      const capture = await readCapture(terminal, file, options, contract.path)
      const material = await openLocalMaterial(terminal, options)
      const at = options.at ?? Date.now()
      const newId = createUuidV7Generator({ now: Date.now, fillRandom: randomFillSync })
      const judged = await judgeCapture({ source: contract, capture, at, material, newId })
      const verdict = judgeWithSecret(judged, secretProblem)
      if (verdict.kind === 'unjudged' && verdict.cause === 'public_url_missing') throw urlMissing(contract.name)
      const notes = listNotes(verifier, capture, verdict)
      if (options.json) terminal.out(`${JSON.stringify(verdictDocument(verifier, verdict, at, notes))}\n`)
      else {
        const text = describeVerdict(verdict, contract, notes).map(escapeForTerminal).join('\n')
        const colour = exitCodeOf(verdict) === EXIT.ok ? terminal.paint.green : terminal.paint.red
        terminal.out(`${text.replace(/^[^:]+/, colour)}\n`)
      }
      exit(exitCodeOf(verdict))
    })
}

function exitCodeOf(verdict: CaptureVerdict): ExitCode {
  switch (verdict.kind) {
    case 'valid':
    case 'handshake':
      return EXIT.ok
    case 'invalid':
    case 'unusable':
      return EXIT.findings
    case 'unjudged':
      return EXIT.unreachable
  }
}

function urlMissing(name: string): CommandFailure {
  const next = 'give it with --url, exactly as it is configured at the sender'
  return new CommandFailure(EXIT.usage, `${name} signs the URL, and which one is not known`, next)
}
