import { join } from 'node:path'
import { CommandFailure } from '../../terminal/command-failure.js'
import { EXIT } from '../../terminal/exit-codes.js'
import { type DemoFiles, PEER_MAINS } from './demo-files.js'
import { startChild } from './start-child.js'

export type PeerOptions = {
  readonly name: string
  readonly main: 'queue-main.js' | 'destination-main.js'
  readonly env: Readonly<Record<string, string>>
}

/** Starts a peer with a ledger of its own; resolves with its port. `onStop` is told how to end it. */
export async function startPeer(
  files: DemoFiles,
  options: PeerOptions,
  onStop: (stop: () => Promise<void>) => void,
): Promise<number> {
  const { name, main, env } = options
  const peer = startChild({
    name,
    args: [join(PEER_MAINS, main)],
    env: { ...env, PEER_NAME: name, PEER_LEDGER: join(files.ledgers, `${name}.jsonl`) },
    logDir: files.logs,
    announces: true,
  })
  onStop(() => peer.stop(2_000))
  const line = await peer.firstLine
  if (line === null) {
    const log = join(files.logs, `${name}.log`)
    throw new CommandFailure(EXIT.unreachable, `the demo's ${name} did not start`, `look into ${log}`)
  }
  return (JSON.parse(line) as { listening: number }).listening
}
