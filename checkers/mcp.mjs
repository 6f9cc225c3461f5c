// Checks the MCP server with the official TypeScript clients: the current one with
// both kinds of negotiation, and the one before it.
//
//   node mcp.mjs BASE_URL KEY SIMULATOR_URL
//
// The service must read from the simulator, and have reports with documents.
import assert from 'node:assert/strict'
import * as v2 from '@modelcontextprotocol/client'
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { check, promptCalls, resources, sameNames, sample, templateCalls, toolCalls, views, viewType } from './mcp-check.mjs'

const [, , base, key, simulator] = process.argv
const url = new URL(`${base}/api/mcp`)
const ajv = formats.default(new Ajv2020({ strict: false }))
const me = { name: 'pregon-checkers', version: '1' }

const text = (result) => result.content.map((c) => c.text).join('\n')

// everything asks a connected client for all that the server offers.
async function everything(client, name) {
  const is = (what, holds) => check(`${name}: ${what}`, holds)
  const call = async (tool, args) => {
    const result = await client.callTool({ name: tool, arguments: args })
    assert.ok(!result.isError, `${tool} ${JSON.stringify(args)}: ${text(result)}`)
    return result.structuredContent
  }

  await is('says what it is and what it can do', () => {
    assert.equal(client.getServerVersion().name, 'pregon')
    assert.ok(client.getInstructions().length > 100)
    sameNames(Object.keys(client.getServerCapabilities()), ['completions', 'extensions', 'prompts', 'resources', 'tools'])
    assert.deepEqual(client.getServerCapabilities().extensions['io.modelcontextprotocol/ui'], { mimeTypes: [viewType] })
  })
  const s = await is('has a report with a document', () => sample(call))
  if (!s) return

  const { tools } = await client.listTools()
  const calls = toolCalls(s)
  await is('offers the tools that are known here', () => sameNames(tools.map((t) => t.name), Object.keys(calls)))
  for (const tool of tools) {
    await is(`${tool.name} describes itself`, () => {
      assert.ok(tool.title && tool.description.length > 40)
      assert.equal(tool.annotations.readOnlyHint, true)
      assert.equal(tool._meta?.ui?.resourceUri, views[tool.name])
    })
    const fits = ajv.compile(tool.outputSchema)
    for (const args of calls[tool.name] ?? []) {
      await is(`${tool.name} ${JSON.stringify(args)}`, async () => {
        const result = await client.callTool({ name: tool.name, arguments: args })
        assert.ok(!result.isError, text(result))
        assert.ok(ajv.validate(tool.inputSchema, args), ajv.errorsText())
        assert.ok(fits(result.structuredContent), ajv.errorsText(fits.errors))
        assert.ok(text(result).length > 10, 'it says nothing to a model that reads no structured content')
        assert.ok(JSON.stringify(result).length < 200_000)
      })
    }
  }
  await is('search and fetch have the shape of research connectors', async () => {
    const found = await client.callTool({ name: 'search', arguments: { query: s.company } })
    assert.deepEqual(JSON.parse(text(found)), found.structuredContent)
    assert.deepEqual(Object.keys(found.structuredContent), ['results', 'understood', 'note'])
    for (const { headline, ...r } of found.structuredContent.results) assert.deepEqual(Object.keys(r), ['id', 'title', 'url'])
    const one = await client.callTool({ name: 'fetch', arguments: { id: found.structuredContent.results.at(-1).id } })
    assert.deepEqual(JSON.parse(text(one)), one.structuredContent)
    assert.deepEqual(Object.keys(one.structuredContent), ['id', 'title', 'url', 'text', 'metadata'])
    for (const v of Object.values(one.structuredContent.metadata)) assert.equal(typeof v, 'string')
  })
  await is('search_reports continues at next', async () => {
    const first = await call('search_reports', { limit: 50 })
    const second = await call('search_reports', first.next)
    const seen = new Set(first.data.map((f) => f.id))
    assert.ok(first.data.length > 0 && second.data.length > 0 && !second.data.some((f) => seen.has(f.id)))
    const { page, limit } = second.next // either page may be cut where its texts are long
    assert.equal((page - 1) * limit, first.data.length + second.data.length)
  })
  await is('read_document continues at next_offset', async () => {
    const whole = await call('read_document', { id: s.report, max_chars: 60 })
    assert.equal(whole.next_offset, 60)
    const parts = await Promise.all([0, 30].map((offset) => call('read_document', { id: s.report, offset, max_chars: 30 })))
    const joined = (d) => d.text.map((t) => t.text).join('')
    assert.equal(parts.map(joined).join(''), joined(whole))
  })

  for (const [what, tool, args, words] of [
    ['a type that there is not', 'search_reports', { type: 'XX' }, /IP.*HR.*OIR|OIR.*IP/s],
    ['a day that there is not', 'search_reports', { from: '2026-02-31' }, /YYYY-MM-DD/],
    ['an argument that there is not', 'search_reports', { company: 'x' }, /company/],
    ['too much at once', 'search_reports', { limit: 1000 }, /50/],
    ['an unknown report', 'get_report', { id: 'oir-99999999' }, /search_reports/],
    ['an issuer that there is not', 'get_issuer', { id: 'Z00000000' }, /search_issuers/],
    ['a kind of issuer', 'list_facts', { kind: 'company' }, /dividend/],
    ['a kind of fact', 'calendar', { kind: 'dividend' }, /payment/],
    ['no id', 'get_report', {}, /id/],
  ]) {
    await is(`${tool} refuses ${what}, and says what to do`, async () => {
      const result = await client.callTool({ name: tool, arguments: args })
      assert.ok(result.isError, 'it is no error')
      assert.match(text(result), words)
    })
  }
  await is('an unknown tool is a protocol error', () => assert.rejects(client.callTool({ name: 'file_report', arguments: {} }), { code: -32602 }))

  const listed = (await client.listResources()).resources
  await is('lists its resources', () => sameNames(listed.map((r) => r.uri), resources))
  const read = async (uri, mimeType) => {
    const { contents } = await client.readResource({ uri })
    assert.equal(contents.length, 1)
    assert.equal(contents[0].uri, uri)
    assert.equal(contents[0].mimeType, mimeType)
    return mimeType === 'application/json' ? JSON.parse(contents[0].text) : contents[0].text
  }
  for (const { uri, mimeType } of listed) {
    await is(`reads ${uri}`, async () => {
      assert.equal(mimeType, { ui: viewType, skill: 'text/markdown' }[uri.split(':')[0]] ?? 'application/json')
      const content = await read(uri, mimeType)
      if (mimeType === viewType) assert.match(content, /^<!doctype html>/i)
      else if (mimeType === 'text/markdown') assert.match(content, /^---\nname: use-pregon/)
      else assert.ok(content.data.length > 0)
    })
  }
  const { resourceTemplates } = await client.listResourceTemplates()
  const uris = templateCalls(s)
  await is('lists its templates', () => sameNames(resourceTemplates.map((t) => t.uriTemplate), Object.keys(uris)))
  for (const { uriTemplate, mimeType } of resourceTemplates) {
    for (const uri of uris[uriTemplate] ?? []) await is(`reads ${uri}`, () => read(uri, mimeType))
  }
  await is('an unknown resource is reported as missing', () => assert.rejects(client.readResource({ uri: 'pregon://reports/oir-99999999' }), (e) => e.code === -32602 || e.code === -32002))

  const { prompts } = await client.listPrompts()
  const wanted = promptCalls(s)
  await is('offers the prompts that are known here', () => sameNames(prompts.map((p) => p.name), Object.keys(wanted)))
  for (const prompt of prompts) {
    for (const args of wanted[prompt.name] ?? []) {
      await is(`${prompt.name} ${JSON.stringify(args)}, in Spanish and in English`, async () => {
        const said = {}
        for (const language of ['es', 'en']) {
          const { messages } = await client.getPrompt({ name: prompt.name, arguments: { ...args, language } })
          assert.equal(messages[0].role, 'user')
          said[language] = messages.map((m) => m.content.text ?? '').join('\n')
        }
        assert.match(said.es, /\b(de|los|las|el|la)\b/)
        assert.match(said.en, /\b(the|of)\b/)
        assert.notEqual(said.es, said.en)
      })
    }
  }
  await is('a prompt wants its arguments', () => assert.rejects(client.getPrompt({ name: 'explain_filing', arguments: {} }), { code: -32602 }))

  const complete = async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion.values
  const prompt = (name) => ({ type: 'ref/prompt', name })
  const template = (uri) => ({ type: 'ref/resource', uri })
  for (const [ref, argument, value, want] of [
    [prompt('issuer_brief'), 'issuer', s.company.slice(0, 8), /./],
    [prompt('issuer_brief'), 'language', 'e', /^e[ns]$/],
    [prompt('explain_filing'), 'id', s.report.slice(0, 6), /^[a-z]+-\d+$/],
    [template('pregon://reports/{id}'), 'id', s.report.slice(0, 6), /^[a-z]+-\d+$/],
    [template('pregon://documents/{id}'), 'id', s.report.slice(0, 6), /^[a-z]+-\d+$/],
    [template('pregon://issuers/{id}'), 'id', s.company.slice(0, 8), /^\S+$/],
    [template('pregon://reports/search{?search,type,issuer,from,to,category,kind}'), 'type', 'O', /^OIR$/],
  ]) {
    await is(`completes ${argument}=${value} of ${ref.name ?? ref.uri}`, async () => {
      const values = await complete(ref, argument, value)
      assert.ok(values.length > 0, 'nothing')
      for (const v of values) assert.match(v, want)
    })
  }
  return s
}

// notifies subscribes to resources and expects a notification of a new report.
async function notifies(client, name) {
  const watched = ['pregon://reports/latest', 'pregon://reports/search?type=OIR', 'pregon://reports/search?type=HR']
  const updated = new Map(watched.map((uri) => [uri, Promise.withResolvers()]))
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.get(params.uri)?.resolve(true))
  const subscription = await check(`${name}: listens`, async () => {
    const open = await client.listen({ resourceSubscriptions: watched })
    sameNames(open.honoredFilter.resourceSubscriptions, watched)
    return open
  })
  if (!subscription) return
  const answer = await fetch(`${simulator}/_sim/publish`, { method: 'POST', body: '{"type":"oir"}' })
  const { id } = await answer.json()
  const late = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value).unref())
  for (const uri of watched.slice(0, 2)) {
    await check(`${name}: notifies of a new report in ${uri}`, async () => {
      for (let there = false; !there;) { // others may become news before
        assert.ok(await Promise.race([updated.get(uri).promise, late(180_000, false)]), `got no notification of ${id} in three minutes`)
        updated.set(uri, Promise.withResolvers())
        const { contents } = await client.readResource({ uri }, { cacheMode: 'bypass' })
        there = JSON.parse(contents[0].text).data.some((f) => f.id === id)
      }
    })
  }
  await check(`${name}: sends no notification of other reports`, async () => assert.equal(await Promise.race([updated.get(watched[2]).promise, late(0, false)]), false))
  await check(`${name}: ends the subscription`, async () => {
    await subscription.close()
    assert.equal(await subscription.closed, 'local')
  })
}

// refused asks without a key for what needs one, and finds the way to a token.
async function refused(id) {
  const ask = (method, params) => fetch(url, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  for (const [what, method, params] of [
    ['read_document', 'tools/call', { name: 'read_document', arguments: { id } }],
    ['a search in documents', 'tools/call', { name: 'search_reports', arguments: { search: 'dividendo', in: 'document' } }],
    ['a document', 'resources/read', { uri: `pregon://documents/${id}` }],
  ]) {
    await check(`without a key ${what} is refused, and says where tokens are given`, async () => {
      const response = await ask(method, params)
      assert.equal(response.status, 401)
      const { resourceMetadataUrl } = v2.extractWWWAuthenticateParams(response)
      const metadata = await v2.discoverOAuthProtectedResourceMetadata(url, { resourceMetadataUrl })
      assert.equal(metadata.resource, url.href)
      assert.deepEqual(metadata.authorization_servers, [base])
      const { error } = await response.json()
      assert.match(error.message, /key|token/)
    })
  }
  await check('without a key the client gets an authorization error', async () => {
    const client = new v2.Client(me)
    await client.connect(new v2.StreamableHTTPClientTransport(url))
    await assert.rejects(client.callTool({ name: 'read_document', arguments: { id } }), { status: 401 })
    await client.close()
  })
  await check('without a key the rest is answered', async () => {
    const client = new v2.Client(me)
    await client.connect(new v2.StreamableHTTPClientTransport(url))
    const { structuredContent } = await client.callTool({ name: 'get_report', arguments: { id } })
    assert.equal(structuredContent.id, id)
    await client.close()
  })
}

const byKey = { requestInit: { headers: { 'x-api-key': key } } }
const byBearer = { requestInit: { headers: { authorization: `Bearer ${key}` } } }
let report
for (const [version, options, transport] of [
  ['2025-11-25', {}, byKey],
  ['2026-07-28', { versionNegotiation: { mode: 'auto' } }, byBearer],
]) {
  const client = new v2.Client(me, options)
  await client.connect(new v2.StreamableHTTPClientTransport(url, transport))
  await check(`${version}: agrees on it`, () => assert.equal(client.getNegotiatedProtocolVersion(), version))
  report = (await everything(client, version))?.report
  if (client.getProtocolEra() === 'modern') await notifies(client, version)
  await client.close()
}
const old = new V1Client(me)
await old.connect(new V1Transport(url, byKey))
await everything(old, 'v1')
await old.close()
if (report) await refused(report)
