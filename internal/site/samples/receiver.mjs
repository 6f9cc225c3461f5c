import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

// verify reports whether a request was signed with the secret, in the last five
// minutes. After a rotation there are several signatures: one that matches is enough.
function verify(secret, headers, body) {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const id = headers['webhook-id'] ?? '', at = headers['webhook-timestamp'] ?? ''
  if (!/^\d+$/.test(at) || Math.abs(Date.now() / 1000 - at) > 300) return false
  const mac = createHmac('sha256', key).update(`${id}.${at}.`).update(body)
  const want = Buffer.from('v1,' + mac.digest('base64'))
  return (headers['webhook-signature'] ?? '').split(' ').some((signature) => {
    const given = Buffer.from(signature)
    return given.length === want.length && timingSafeEqual(given, want) // the same time for any signature
  })
}

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks) // the bytes as they came
  const good = verify(process.env.SECRET, request.headers, body)
  response.writeHead(good ? 204 : 401).end()
  if (good) console.log(request.headers['webhook-id'], body.toString()) // process each id once
})
server.listen(process.env.PORT ?? 9000, '127.0.0.1', () => console.log('port', server.address().port))
