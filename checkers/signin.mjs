// Signs in to the MCP server with the official TypeScript clients, as a person
// with a browser does.
//
//   node signin.mjs SETTINGS
//
// SETTINGS is JSON: base, the address of the service; sub, a person of its provider; key, a
// key; report, a report with a document; client, the address of a Client ID Metadata Document.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import * as v2 from '@modelcontextprotocol/client'
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { check } from './mcp-check.mjs'
import { leave, Person, wait } from './person.mjs'

const { base, sub, key, report, client: documentURL } = JSON.parse(process.argv[2])
const me = { name: 'pregon-checkers', version: '1' }

// Memory is what an application keeps between the steps, and across starts.
class Memory {
  constructor(redirectURI, clientMetadataUrl) {
    this.redirectUrl = redirectURI
    this.clientMetadataUrl = clientMetadataUrl
    this.clientMetadata = { client_name: 'Checkers', redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none' }
  }
  state() { return (this.sent = randomUUID()) }
  clientInformation() { return this.information }
  saveClientInformation(information) { this.information = information }
  tokens() { return this.saved }
  saveTokens(tokens) { this.saved = tokens }
  redirectToAuthorization(address) { this.address = address }
  saveCodeVerifier(verifier) { this.verifier = verifier }
  codeVerifier() { return this.verifier }
  discoveryState() { return this.discovered }
  saveDiscoveryState(state) { this.discovered = state }
}

// Application is a client of one of the two libraries.
class Application {
  static async start(library, path, clientMetadataUrl) {
    const own = new Application()
    own.library = library
    own.url = new URL(base + path)
    own.back = await wait()
    own.memory = new Memory(own.back.uri, clientMetadataUrl)
    return own
  }

  async connect() {
    this.transport = new this.library.Transport(this.url, { authProvider: this.memory })
    this.client = new this.library.Client(me)
    await this.client.connect(this.transport)
  }

  // allowed lets a person answer what was asked, and goes on with the answer.
  async allowed(person) {
    const said = await person.answer(this.memory.address)
    const answer = this.back.arrived()
    assert.equal(answer.get('state'), this.memory.sent)
    assert.equal(answer.get('iss'), base)
    await this.library.finish(this.transport, answer)
    return said
  }

  async read() {
    const result = await this.client.callTool({ name: 'read_document', arguments: { id: report } })
    assert.ok(!result.isError && result.structuredContent.text.length > 0, JSON.stringify(result))
  }
}

const current = {
  name: 'client 2', Client: v2.Client, Transport: v2.StreamableHTTPClientTransport, refused: { name: 'UnauthorizedError' },
  finish: (transport, answer) => transport.finishAuth(answer),
}
const former = {
  name: 'sdk 1', Client: V1Client, Transport: V1Transport, refused: { message: 'Unauthorized' },
  finish: (transport, answer) => transport.finishAuth(answer.get('code')),
}

// signsIn connects where sign-in is required from the first message.
async function signsIn(library, as, clientMetadataUrl) {
  const application = await Application.start(library, '/api/mcp/signin', clientMetadataUrl)
  await assert.rejects(application.connect(), library.refused)
  const asked = application.memory.address.searchParams
  assert.equal(asked.get('resource'), `${base}/api/mcp/signin`)
  const person = new Person(as)
  const said = await application.allowed(person)
  assert.match(said, /Checkers/)
  await application.connect()
  await application.read()
  return { application, person }
}

const signedIn = await check('client 2 registers, and a person of the provider signs in', () => signsIn(current, { sub }))
await check('client 2 refreshes an access token that is no longer good', async () => {
  const { memory } = signedIn.application
  const { refresh_token: before } = memory.saved
  memory.saved = { ...memory.saved, access_token: 'expired' }
  await signedIn.application.read()
  assert.ok(memory.saved.refresh_token && memory.saved.refresh_token !== before)
})
await check('client 2 has a document for its id, and a person signs in by a key', async () => {
  const { application } = await signsIn(current, { key }, documentURL)
  assert.equal(application.memory.information.client_id, documentURL)
})
await check('sdk 1 registers, and a person signs in by a key', () => signsIn(former, { key }))

await check('client 2 reads without a person until a tool needs one', async () => {
  const application = await Application.start(current, '/api/mcp')
  await application.connect()
  const found = await application.client.callTool({ name: 'search_reports', arguments: {} })
  assert.ok(found.structuredContent.data.length > 0)
  assert.equal(application.memory.address, undefined)
  await assert.rejects(application.read(), current.refused)
  assert.equal(application.memory.address.searchParams.get('resource'), `${base}/api/mcp`)
  await application.allowed(new Person({ sub }))
  await application.read()
})
await check('client 2 asks for one scope more when a tool needs it', async () => {
  const application = await Application.start(current, '/api/mcp/signin')
  assert.equal(await v2.auth(application.memory, { serverUrl: application.url, scope: 'read:issuers' }), 'REDIRECT')
  application.transport = new v2.StreamableHTTPClientTransport(application.url, { authProvider: application.memory })
  const person = new Person({ sub })
  await application.allowed(person)
  assert.equal(application.memory.saved.scope, 'read:issuers')
  await application.connect()
  application.memory.address = undefined
  await assert.rejects(application.read(), current.refused)
  const wanted = application.memory.address.searchParams.get('scope').split(' ').sort()
  assert.deepEqual(wanted, ['read:issuers', 'read:reports'])
  await application.allowed(person)
  await application.read()
})
await leave()
