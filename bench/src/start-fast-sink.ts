import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export type FastSinkSummary = {
  readonly requests: number
  /** Equal to `requests` when no key was seen twice. */
  readonly distinctKeys: number
  /** From the first to the last request. */
  readonly seconds: number
}

export type FastSink = {
  readonly url: string
  readonly summary: () => Promise<FastSinkSummary>
  readonly close: () => void
}

/** Starts the destination of the benchmark in a process of its own. */
export async function startFastSink(): Promise<FastSink> {
  const child = fork(fileURLToPath(new URL('./fast-sink.js', import.meta.url)), { stdio: 'inherit' })
  const { port } = await nextMessage<{ port: number }>(child)
  return {
    url: `http://127.0.0.1:${port}`,
    summary: () => {
      const answer = nextMessage<FastSinkSummary>(child)
      child.send('summary')
      return answer
    },
    close: () => child.disconnect(),
  }
}

function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      child.off('message', onMessage)
      child.off('exit', onExit)
    }
    const onMessage = (message: unknown) => {
      settle()
      resolve(message as T)
    }
    const onExit = () => {
      settle()
      reject(new Error('the sink of the benchmark ended'))
    }
    child.on('message', onMessage)
    child.on('exit', onExit)
  })
}
