// The sink's process: `node sink-main.js [port] [controlPort]`. Prints one JSON line with its ports when it listens.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { listenSink } from './sink-server.js'

const sink = await listenSink(Number(process.argv[2] ?? 0))

/** Commands of the control port. The ledger goes out as one JSON line a row, so that a long one needs no long string. */
async function control(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  switch (`${request.method} ${request.url}`) {
    case 'PUT /script':
      sink.setScript(JSON.parse(body))
      break
    case 'PUT /door':
      await sink.setDoor(JSON.parse(body).door)
      break
    case 'DELETE /ledger':
      sink.clear()
      break
    case 'GET /summary':
      response.end(JSON.stringify(sink.summarise()))
      return
    case 'GET /requests':
      await writeLines(response, sink.ledger.readRequests())
      return
    case 'GET /effects':
      await writeLines(response, sink.ledger.readEffects())
      return
    default:
      response.writeHead(404)
  }
  response.end()
}

async function writeLines(response: ServerResponse, rows: Iterable<object>): Promise<void> {
  let block = ''
  for (const row of rows) {
    block += `${JSON.stringify(row)}\n`
    if (block.length < 65_536) continue
    if (!response.write(block)) await new Promise((resolve) => response.once('drain', resolve))
    block = ''
  }
  response.end(block)
}

const controlServer = createServer((request, response) => {
  control(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
})
controlServer.listen(Number(process.argv[3] ?? 0), '127.0.0.1', () => {
  const controlPort = (controlServer.address() as AddressInfo).port
  process.stdout.write(`${JSON.stringify({ port: sink.port, controlPort })}\n`)
})
