// Checks the MCP server with the command line of the MCP Inspector, in both eras of the
// protocol: every tool, resource, template and prompt, and the schemas of the
// tools in the Inspector's strictest reading.
//
//   node inspector-cli.mjs BASE_URL KEY
//
// The command line is called as the Inspector's launcher calls it, in this
// process: forty processes would take forty times as long to start.
import assert from 'node:assert/strict'
import { runCli } from './node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js'
import { check, promptCalls, resources, sameNames, sample, templateCalls, toolCalls, views, viewType } from './mcp-check.mjs'

const [, , base, key] = process.argv
const fixed = [`${base}/api/mcp`, '--transport', 'http', '--format', 'json', '--stored-auth-only', '--connect-timeout', '180000', '--header', `X-API-Key: ${key}`]

// inspector runs one command, and returns the lines it printed. Anything on
// stderr is a complaint.
async function inspector(era, ...args) {
  const said = { stdout: '', stderr: '' }
  const write = { stdout: process.stdout.write, stderr: process.stderr.write }
  for (const stream of ['stdout', 'stderr']) {
    process[stream].write = (some, encoding, then = encoding) => {
      said[stream] += some
      if (typeof then === 'function') process.nextTick(then)
      return true
    }
  }
  try {
    await runCli(['node', 'inspector-cli', ...fixed, '--protocol-era', era, ...args])
  } catch (e) {
    throw new Error(`${e.message} (exit ${e.exitCode ?? 1})\n${said.stderr}${said.stdout}`)
  } finally {
    Object.assign(process.stdout, { write: write.stdout })
    Object.assign(process.stderr, { write: write.stderr })
  }
  assert.equal(said.stderr.replace(/^Verified .*: no conformance errors\.\n$/, ''), '', 'the Inspector complains')
  return said.stdout.trim().split('\n').map((line) => JSON.parse(line))
}

for (const [era, version] of [['legacy', '2025-11-25'], ['modern', '2026-07-28']]) {
  const is = (what, holds) => check(`${era}: ${what}`, holds)
  const ask = async (method, ...args) => (await inspector(era, '--method', method, ...args))[0].result
  const call = async (tool, args) => {
    const { structuredContent } = await ask('tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args))
    assert.ok(structuredContent)
    return structuredContent
  }

  await is('initialize', async () => assert.equal((await ask('initialize')).protocolVersion, version))
  const s = await is('finds a report', () => sample(call))
  if (!s) continue
  const { tools } = (await is('tools/list, strictly', () => ask('tools/list', '--strict'))) ?? { tools: [] }
  for (const { name } of tools) {
    for (const args of toolCalls(s)[name] ?? [{}]) await is(`tools/call ${name} ${JSON.stringify(args)}`, () => call(name, args))
  }
  await is('an error of a tool is one', () => assert.rejects(call('search_reports', { type: 'XX' }), /exit 5/))

  await is('--app-info', async () => {
    const apps = await inspector(era, '--method', 'tools/list', '--app-info')
    const shown = apps.filter((a) => a.hasApp)
    assert.deepEqual(Object.fromEntries(shown.map((a) => [a.toolName, a.resourceUri])), views)
    for (const a of shown) assert.equal(a.resourceMimeType, viewType)
  })

  await is('resources/list', async () => sameNames((await ask('resources/list')).resources.map((r) => r.uri), resources))
  if (era === 'modern') {
    await is('skills/list, verified', async () => {
      assert.match(JSON.stringify(await inspector(era, '--method', 'skills/list', '--verify')), /skill:\/\/use-pregon\/SKILL\.md/)
    })
  }
  await is('resources/templates/list', async () => {
    sameNames((await ask('resources/templates/list')).resourceTemplates.map((t) => t.uriTemplate), Object.keys(templateCalls(s)))
  })
  for (const uri of [...resources, ...Object.values(templateCalls(s)).flat()]) {
    await is(`resources/read ${uri}`, async () => assert.ok((await ask('resources/read', '--uri', uri)).contents[0].text))
  }

  await is('prompts/list', async () => sameNames((await ask('prompts/list')).prompts.map((p) => p.name), Object.keys(promptCalls(s))))
  for (const [name, all] of Object.entries(promptCalls(s))) {
    for (const args of all.flatMap((a) => [{ ...a, language: 'es' }, { ...a, language: 'en' }])) {
      const pairs = Object.entries(args).map(([k, v]) => `${k}=${v}`)
      await is(`prompts/get ${name} ${pairs.join(' ')}`, async () => assert.ok((await ask('prompts/get', '--prompt-name', name, '--prompt-args', ...pairs)).messages.length))
    }
  }
}
