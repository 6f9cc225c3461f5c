// Holds the stream to eventsource and the webhooks to standardwebhooks, which
// others wrote. What they see is printed, one JSON object a line; the Go test
// that calls this decides whether it is right.
//
//   node push.mjs stream URL   follows a stream with the key in PREGON_KEY, through every reconnect
//   node push.mjs receive      prints {"url"}, reads the secret from its input, then takes webhooks
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { EventSource } from 'eventsource'
import { Webhook } from 'standardwebhooks'

const print = (line) => console.log(JSON.stringify(line))

function stream(url) {
  const source = new EventSource(url, {
    fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, 'X-API-Key': process.env.PREGON_KEY } }),
  })
  const names = ['hello', 'goodbye', 'report.published', 'report.backfilled', 'report.updated', 'report.corrected', 'issuer.updated',
    'position.published', 'position.updated', 'position.withdrawn', 'position.backfilled']
  for (const name of names) {
    source.addEventListener(name, (e) => print({ id: e.lastEventId, event: name, data: JSON.parse(e.data) }))
  }
  source.addEventListener('error', (e) => {
    if (source.readyState === EventSource.CLOSED) { // it will not try again
      print({ event: 'closed', code: e.code, message: e.message })
      process.exit(1)
    }
  })
}

async function receive() {
  let webhook
  const server = createServer(async (req, res) => {
    let body = ''
    for await (const some of req.setEncoding('utf8')) body += some
    const id = req.headers['webhook-id']
    try {
      print({ id, data: webhook.verify(body, req.headers) })
      res.writeHead(204).end()
    } catch (e) {
      print({ id, refused: e.message })
      res.writeHead(400).end()
    }
  })
  server.listen(0, '127.0.0.1', () => print({ url: `http://127.0.0.1:${server.address().port}` }))
  for await (const secret of createInterface(process.stdin)) {
    webhook = new Webhook(secret)
    print({ secret: 'read' })
  }
  process.exit()
}

const [, , what, ...args] = process.argv
await { stream, receive }[what](...args)
