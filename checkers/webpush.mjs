// Decrypts messages to browsers with http_ece, which others wrote. Its input has one JSON
// object a line, with the key and the secret of the browser and the body that the push
// service received, in base64url; it prints the texts as JSON, one a line.
import { createECDH } from 'node:crypto'
import { createInterface } from 'node:readline'
import ece from 'http_ece'

for await (const line of createInterface(process.stdin)) {
  const { key, auth, body } = JSON.parse(line)
  const privateKey = createECDH('prime256v1')
  privateKey.setPrivateKey(Buffer.from(key, 'base64url'))
  const plain = ece.decrypt(Buffer.from(body, 'base64url'), { version: 'aes128gcm', privateKey, authSecret: auth })
  console.log(JSON.stringify(plain.toString('utf8')))
}
