// Runs the scenarios for authorization servers of the MCP conformance suite, and opens
// the address that it prints for a person.
//
//   node conformance-authorization.mjs BASE_URL KEY CLIENT_ID RESULTS_DIR
//
// The redirect URI of the client is http://127.0.0.1/callback, with any port.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import net from 'node:net'
import { createInterface } from 'node:readline'
import { leave, Person } from './person.mjs'

const [, , base, key, client, results] = process.argv

const free = net.createServer().listen(0, '127.0.0.1')
await new Promise((resolve) => free.once('listening', resolve))
const { port } = free.address()
await new Promise((resolve) => free.close(resolve))

const suite = spawn(process.execPath, [
  'node_modules/@modelcontextprotocol/conformance/dist/index.js', 'authorization',
  '--url', base, '--client-id', client, '--resource', `${base}/api/mcp/signin`, '--port', String(port), '--output-dir', results,
], { stdio: ['ignore', 'pipe', 'inherit'] })
const ended = new Promise((resolve) => suite.once('close', resolve))

let said = ''
for await (const line of createInterface({ input: suite.stdout })) {
  said += `${line}\n`
  if (line.startsWith(`${base}/`)) await new Person({ key }).answer(line)
}
await leave()
await ended
console.log(said)
for (const file of globSync(`${results}/**/checks.json`)) {
  for (const { id, status, errorMessage } of JSON.parse(readFileSync(file))) {
    console.log(id, status, errorMessage ?? '')
    if (status !== 'SUCCESS') process.exitCode = 1
  }
}
assert.match(said, /^Total: 3 passed, 0 failed$/m)
