// Shows the views in a host built on AppBridge, which others wrote, and uses
// them as a person would, with and without a mouse.
//
//   node views.mjs BASE_URL [--screenshots DIR]
//
// The views, and the answers to their calls, come from the service at BASE_URL.
// What a real service does not do on demand (fail, send a hostile title, file
// just now) is put into its answers here. Prints a line for each check and
// exits with 1 when one failed. CHROME_PATH says where the browser is.
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import axe from 'axe-core'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'

const [base, option, folder] = process.argv.slice(2)
if (!base || (option && option !== '--screenshots')) {
  console.error('usage: node views.mjs BASE_URL [--screenshots DIR]')
  process.exit(2)
}
if (folder) mkdirSync(folder, { recursive: true })

// --- the host's page, and the origin in which views are held

const HOST = `
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

window.seen = [] // everything that the view posts
window.addEventListener('message', ({ source, data }) => { if (source === window.view?.contentWindow) window.seen.push(data) })

// ask sends the view a request and returns what it answers.
let asked = 0
window.ask = (method) => new Promise((resolve) => {
  const id = \`ask-\${++asked}\`
  const listen = ({ data }) => {
    if (data?.id !== id) return
    window.removeEventListener('message', listen)
    resolve(data)
  }
  window.addEventListener('message', listen)
  window.view.contentWindow.postMessage({ jsonrpc: '2.0', id, method, params: {} }, '*')
})

// start shows a view in place of the one before, of which nothing is left.
window.start = async ({ url, width, capabilities, context, input, result }) => {
  await window.bridge?.close()
  const frame = document.createElement('iframe')
  frame.title = 'view'
  frame.sandbox = 'allow-scripts'
  frame.style.cssText = \`border: 0; display: block; width: \${width}px; height: 600px\`
  document.body.replaceChildren(frame)
  for (const left of ['opened', 'modelContext', 'hacked']) delete window[left]
  window.seen = []
  scrollTo(0, 0)

  const bridge = new AppBridge(null, { name: 'checker', version: '1' }, capabilities, { hostContext: context })
  bridge.oncalltool = (params) => window.callTool(params)
  bridge.onopenlink = async (params) => { window.opened = params.url; return {} }
  bridge.onupdatemodelcontext = async (params) => { window.modelContext = params; return {} }
  bridge.onrequestdisplaymode = async ({ mode }) => {
    bridge.sendHostContextChange({ displayMode: mode })
    return { mode }
  }
  bridge.onsizechange = ({ height }) => { if (height) frame.style.height = height + 'px' }
  const ready = new Promise((resolve) => { bridge.oninitialized = resolve })
  window.bridge = bridge
  window.view = frame
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  frame.src = url
  await ready
  if (input) await bridge.sendToolInput({ arguments: input })
  if (result) await bridge.sendToolResult(result)
  await window.ask('ping') // by its answer the view has drawn what it was given
}
`

const CSP = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'"

const bundle = await build({
  stdin: { contents: HOST, resolveDir: dirname(fileURLToPath(import.meta.url)) },
  bundle: true, minify: true, format: 'esm', write: false, logLevel: 'error',
})
const hostPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title>
<style>body { margin: 0 }</style><body><script type="module">${bundle.outputFiles[0].text.replaceAll('</script', '<\\/script')}</script>`

const views = {}
const serve = (headers, body) => new Promise((resolve) => {
  const server = createServer((req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...headers }).end(body(req.url))
  }).listen(0, '127.0.0.1', () => resolve({ server, url: `http://127.0.0.1:${server.address().port}` }))
})
const hostOrigin = await serve({}, () => hostPage)
const viewOrigin = await serve({ 'Content-Security-Policy': CSP }, (path) => views[path.slice(1)] ?? '')

// --- the service

const client = new Client({ name: 'pregon-checker', version: '1' })
await client.connect(new StreamableHTTPClientTransport(new URL('/api/mcp', base)))
const tool = (name, args = {}) => client.callTool({ name, arguments: args })
const data = async (name, args) => (await tool(name, args)).structuredContent
const asResult = (structuredContent) => ({ content: [{ type: 'text', text: '…' }], structuredContent })

// --- checks

const LANES = 3 // checks that run at a time; a check often waits, for the view or for nothing to happen
const checks = []
const check = (name, action) => checks.push({ name, action })

// runChecks runs the checks, some at a time, prints their results in order, and
// returns how many failed.
async function runChecks() {
  const results = checks.map(() => Promise.withResolvers())
  let next = 0
  const lane = async () => {
    while (next < checks.length) {
      const i = next++
      results[i].resolve(await checks[i].action().then(() => null, (error) => error))
    }
  }
  for (let i = 0; i < LANES; i++) lane()
  let failures = 0
  for (const [i, { name }] of checks.entries()) {
    const error = await results[i].promise
    if (error) failures++
    console.log(error ? `FAIL  ${name}\n      ${String(error.message).split('\n').slice(0, 12).join('\n      ')}` : `ok    ${name}`)
  }
  return failures
}

function expect(condition, message) {
  if (!condition) throw new Error(message)
}

const PATIENCE = 180_000 // of a machine that has other things to do
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function until(condition, message, patience = PATIENCE) {
  for (const end = Date.now() + patience; Date.now() < end;) {
    if (await condition()) return
    await pause(25)
  }
  throw new Error(`timed out waiting for ${message}`)
}

const browser = await chromium.launch({
  timeout: PATIENCE,
  executablePath: process.env.CHROME_PATH ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
})

const EVERYTHING = { openLinks: {}, serverTools: {}, updateModelContext: { text: {} } }
const CONTEXT = { theme: 'light', locale: 'en-GB', displayMode: 'inline', availableDisplayModes: ['inline', 'fullscreen'] }

// Hosts whose view is done with. A view keeps nothing in its host, so another
// can be shown there; a window of its own for each would take longer than most
// checks do. Only the host's clock stays as far ahead as a check put it.
const hosts = []

async function newHost() {
  const context = await browser.newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE)
  const host = { context, page, shown: null }
  const complain = (text) => host.shown?.complaints.push(text)
  page.on('console', (message) => { if (message.type() === 'error' || message.type() === 'warning') complain(message.text()) })
  page.on('pageerror', (error) => complain(error.message))
  await page.clock.install()
  await page.exposeFunction('callTool', ({ name, arguments: args }) => {
    host.shown.calls.push({ name, arguments: args })
    return host.shown.answer(name, args)
  })
  await page.goto(hostOrigin.url)
  await page.waitForFunction(() => window.start)
  return host
}

// show opens a view and gives it a tool's arguments and result.
async function show(name, input, result, { width = 720, capabilities = EVERYTHING, context = {} } = {}) {
  const host = hosts.pop() ?? await newHost()
  const { page } = host
  const shown = { page, calls: [], answer: tool, complaints: [] }
  host.shown = shown
  await page.mouse.move(0, 0)
  await page.setViewportSize({ width, height: 800 })
  await page.evaluate((start) => window.start(start), { url: `${viewOrigin.url}/${name}`, width, capabilities, context: { ...CONTEXT, ...context }, input, result })
  const frame = await page.$('iframe')
  shown.view = await frame.contentFrame()
  shown.say = (method, params) => page.evaluate(([what, sent]) => window.bridge[what](sent), [method, params])
  // Complaints may still be under way, and would be taken for those of the next.
  shown.close = () => (shown.complaints.length ? host.context.close() : hosts.push(host))
  shown.shoot = async (label) => {
    if (!folder) return
    const inside = () => shown.view.evaluate(() => Math.ceil(document.documentElement.getBoundingClientRect().height))
    await until(async () => await inside() === await page.evaluate(() => window.view.offsetHeight), 'the frame to fit', 5_000).catch(() => {})
    await page.setViewportSize({ width, height: Math.min(Math.max(await inside(), 300), 4000) })
    await pause(200)
    await page.screenshot({ path: join(folder, `${label}.png`) })
    await page.setViewportSize({ width, height: 800 })
  }
  return shown
}

// --- what the service has, and what it might have

for (const name of ['filings-feed', 'analytics', 'issuer']) {
  const { contents: [content] } = await client.readResource({ uri: `ui://pregon/${name}` })
  expect(content.mimeType === 'text/html;profile=mcp-app', `${name} is ${content.mimeType}`)
  views[name] = content.text
}

const listed = await data('search_reports', { limit: 10 })
const proven = await findProven()
const issuerId = proven.issuer_id

// findProven returns a report with evidence, of an issuer of the directory.
async function findProven() {
  for (const report of (await data('search_reports', { limit: 50 })).data) {
    const whole = report.summary && await data('get_report', { id: report.id })
    if (whole?.evidence.length && whole.issuer_id) return whole
  }
  throw new Error('no report of a known issuer has evidence yet')
}

const HOSTILE = '[Simulación] <img src=x onerror="top.hacked=1"><script>top.hacked=1</script>'
const hostile = (id, more) => ({
  id, company_name: 'BODEGAS "<b>PRUEBA</b>", S.A.', ticker: '<i>', type: 'IP', title: HOSTILE, summary: '</p><svg onload=alert(1)>',
  published_at: '2026-04-22T10:00:33+02:00', cnmv_registration_number: '1', pdf_url: 'javascript:top.hacked=1', ...more,
})
const ODD = [
  null, 7, 'x', [], {}, { id: null }, { id: 'oir-1' },
  hostile('ip-1'),
  hostile('ip-2', { title: `[Simulación] abc\u202Efdp.exe ${'x'.repeat(20_000)}`, type: 'NEW', ticker: 'T'.repeat(500) }),
  hostile('ip-3', { title: null, summary: { a: 1 }, published_at: 'yesterday', company_name: 5, type: null, pdf_url: 'data:text/html,x' }),
]

const fresh = (n) => hostile(`oir-${900_000 + n}`, { title: `[Simulación] Nueva ${n}`, type: 'OIR', company_name: 'BODEGAS DE PRUEBA, S.A.', pdf_url: null })
const rows = (shown) => shown.view.locator('.rows > .row')
const calls = (shown, name) => shown.calls.filter((call) => call.name === name)
const lastCall = (shown) => shown.calls.at(-1)
const focused = (shown) => shown.view.evaluate(() => document.activeElement?.dataset.key ?? document.activeElement?.tagName)
const untilFocused = async (shown, key) => {
  let at
  await until(async () => (at = await focused(shown)) === key, '').catch(() => { throw new Error(`the keyboard is not at ${key} but at ${at}`) })
}
const said = (shown) => shown.view.locator('#said').textContent()

// analyse runs axe inside the view. From the host it takes many times as long and
// cannot compute the contrast of parts that are scrolled out of sight. Rules about
// whole pages apply to the host.
async function analyse(shown, state) {
  if (!await shown.view.evaluate(() => Boolean(window.axe))) await shown.view.evaluate(axe.source)
  const violations = await shown.view.evaluate(async () => {
    const { violations } = await window.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      rules: Object.fromEntries(['landmark-one-main', 'region', 'page-has-heading-one'].map((id) => [id, { enabled: false }])),
      resultTypes: ['violations'],
    })
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 2).map((node) => `${node.html} ${node.failureSummary}`).join('\n')}`)
  })
  expect(!violations.length, `${state}: ${violations.join('\n')}`)
}

// tornText returns the words that are broken over two lines, and the elements that
// leave the view or are cut off. It runs inside the view.
function tornText() {
  const found = []
  const isHidden = (element) => !element.checkVisibility() || element.closest('.unseen, .meaning')
  const view = document.getElementById('view')
  const nodes = document.createTreeWalker(view, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  while (nodes.nextNode()) {
    const { data, parentElement } = nodes.currentNode
    if (isHidden(parentElement)) continue
    for (const { 0: word, index } of data.matchAll(/[\p{L}\p{N}]+/gu)) {
      range.setStart(nodes.currentNode, index)
      range.setEnd(nodes.currentNode, index + word.length)
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
      if (lines.size > 1) found.push(`${word} is broken in ${parentElement.outerHTML.slice(0, 120)}`)
    }
  }
  for (const element of view.querySelectorAll(':not(svg *, input)')) {
    if (isHidden(element)) continue
    const { left, right } = element.getBoundingClientRect()
    if (left < 0 || right > innerWidth + 0.5) found.push(`sticks out by ${right - innerWidth}: ${element.outerHTML.slice(0, 120)}`)
    if (getComputedStyle(element).overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1) found.push(`is cut by ${element.scrollWidth - element.clientWidth}: ${element.outerHTML.slice(0, 120)}`)
  }
  return found
}

async function expectWhole(shown, state) {
  const torn = await shown.view.evaluate(tornText)
  expect(!torn.length, `${state}: ${torn.join('\n')}`)
  const wide = await shown.view.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  expect(wide <= 0, `${state}: it is ${wide} pixels too wide`)
}

// Colours as a host may have them.
const HOST_COLOURS = {
  '--color-background-primary': '#faf9f5', '--color-background-secondary': '#f0eee6', '--color-text-primary': '#141413',
  '--color-text-secondary': 'light-dark(#3d3d3a, #c2c0b6)', '--color-border-tertiary': 'rgb(31 30 29 / 15%)', '--font-sans': 'serif',
}

// --- what all views do

function common(name, input, result) {
  const open = (options) => show(name, input, result, options)

  for (const [look, context, width] of [
    ['light', { theme: 'light' }, 360],
    ['light', { theme: 'light' }, 1200],
    ['dark', { theme: 'dark' }, 360],
    ['dark', { theme: 'dark' }, 1200],
    ['host', { theme: 'light', styles: { variables: HOST_COLOURS } }, 720],
  ]) {
    check(`${name}: has no fault that axe finds, ${look}, ${width} pixels wide`, async () => {
      const shown = await open({ width, context })
      await shown.shoot(`${name}-${look}-${width}`)
      await analyse(shown, 'at first')
      await shown.view.locator(name === 'analytics' ? '.chart-issuers button' : '.row-open').first().click()
      await shown.view.locator(name === 'analytics' ? '.pane .row' : '.pane .attribution').first().waitFor()
      await shown.shoot(`${name}-${look}-${width}-opened`)
      await analyse(shown, 'opened')
      await shown.close()
    })
  }

  for (const locale of ['es-ES', 'en-GB']) {
    for (const width of [320, 360]) {
      check(`${name}: breaks no word and fits, ${locale}, ${width} pixels wide`, async () => {
        const shown = await open({ width, context: { locale } })
        await shown.view.locator('details').evaluateAll((all) => all.forEach((one) => { one.open = true }))
        await shown.shoot(`${name}-${locale}-${width}`)
        await expectWhole(shown, 'at first')
        shown.answer = async () => ({ isError: true, content: [{ type: 'text', text: 'Vuelva a intentarlo dentro de un minuto.' }] })
        await shown.view.locator('[data-key=refresh]').click()
        await shown.view.getByRole('alert').waitFor()
        await expectWhole(shown, 'failed')
        shown.answer = tool
        await shown.view.locator('[data-key=retry]').click()
        await shown.view.getByRole('alert').waitFor({ state: 'detached' })
        await shown.view.locator(name === 'analytics' ? '.chart-issuers button' : '.row-open').first().click()
        await shown.view.locator(name === 'analytics' ? '.pane .row' : '.pane .attribution').first().waitFor()
        await shown.shoot(`${name}-${locale}-${width}-opened`)
        await expectWhole(shown, 'opened')
        await shown.close()
      })
    }
  }

  check(`${name}: sends its size when it changes, and only then`, async () => {
    const shown = await open()
    const height = () => shown.view.evaluate(() => Math.ceil(document.documentElement.getBoundingClientRect().height))
    const frame = () => shown.page.evaluate(() => window.view.offsetHeight)
    await until(async () => await height() === await frame(), 'the frame to be as high as the view')
    const sizes = () => shown.page.evaluate(() => window.seen.filter((m) => m.method === 'ui/notifications/size-changed').map((m) => JSON.stringify(m.params)))
    let before
    await until(async () => {
      before = await sizes()
      await pause(300)
      return (await sizes()).length === before.length
    }, 'the view to have sent its size')
    expect(before.every((size, i) => size !== before[i - 1]), `sent ${before.join(' ')}`)
    await shown.page.evaluate(() => { window.view.style.width = '340px' })
    await until(async () => (await sizes()).length > before.length, 'a new size')
    await until(async () => await height() === await frame(), 'the frame to be as high as the view again')
    await shown.close()
  })

  check(`${name}: follows theme, colours and language of the host`, async () => {
    const shown = await open()
    const colour = () => shown.view.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const heading = () => shown.view.locator('h1').textContent()
    const light = await colour()
    const english = await shown.view.locator('[data-key=screen]').getAttribute('aria-label')
    await shown.say('sendHostContextChange', { theme: 'dark' })
    await until(async () => await colour() !== light, 'the dark theme')
    await shown.say('sendHostContextChange', { theme: 'light', styles: { variables: { '--color-background-primary': 'rgb(250, 240, 230)', '--color-text-primary': '#111' } } })
    await until(async () => await colour() === 'rgb(250, 240, 230)', "the host's colour")
    await shown.say('sendHostContextChange', { styles: { variables: { '--color-background-primary': '#777', '--color-text-primary': '#888' } } })
    await until(async () => await colour() === light, 'our colours in place of illegible ones')
    await shown.say('sendHostContextChange', { locale: 'es-ES' })
    await until(async () => await shown.view.locator('[data-key=screen]').getAttribute('aria-label') !== english, 'Spanish')
    expect(await shown.view.evaluate(() => document.documentElement.lang) === 'es', 'the document does not say that it is Spanish')
    expect(await heading(), 'there is no heading')
    await shown.say('sendHostContextChange', { locale: 'not a locale!' })
    await until(async () => await shown.view.evaluate(() => document.documentElement.lang) === 'en', 'English for want of a language')
    expect(!shown.complaints.length, shown.complaints.join('\n'))
    await shown.close()
  })

  check(`${name}: asks for the whole screen`, async () => {
    const shown = await open({ width: 1200 })
    await shown.view.locator('[data-key=screen]').click()
    await until(async () => await shown.view.evaluate(() => document.documentElement.dataset.mode) === 'fullscreen', 'the whole screen')
    await shown.shoot(`${name}-fullscreen`)
    await shown.close()
  })

  check(`${name}: shows a tool's error, a cancelled call and a wait`, async () => {
    const shown = await show(name, input, null, { context: { toolInfo: { tool: { name: 'some_tool', inputSchema: { type: 'object' } } } } })
    await shown.view.getByText('some_tool').waitFor()
    await shown.say('sendToolCancelled', { reason: 'user action' })
    await shown.view.getByRole('alert').waitFor()
    await shown.say('sendToolResult', { isError: true, content: [{ type: 'text', text: 'Nothing <b>here</b>.' }] })
    await shown.view.getByRole('alert').getByText('Nothing <b>here</b>.').waitFor()
    await shown.shoot(`${name}-error`)
    await shown.view.locator('[data-key=retry]').click()
    await until(async () => await shown.view.getByRole('alert').count() === 0, 'the error to go')
    await shown.close()
  })

  check(`${name}: shows what it has when the host passes no calls on`, async () => {
    const shown = await open({ capabilities: {} })
    await shown.view.locator(name === 'analytics' ? '.tile' : '.row').first().waitFor()
    for (const key of ['refresh', 'search', 'older', 'more', 'live', 'retry']) {
      expect(await shown.view.locator(`[data-key=${key}]`).count() === 0, `there is a control that needs calls: ${key}`)
    }
    await shown.shoot(`${name}-no-calls`)
    await shown.page.clock.fastForward(60_000)
    expect(!shown.calls.length, 'it called')
    await shown.close()
  })

  check(`${name}: speaks the protocol with the host only`, async () => {
    const shown = await open()
    const ask = (method) => shown.page.evaluate((asked) => window.ask(asked), method)
    expect((await ask('ping')).result, 'ping is not answered')
    expect((await ask('no/such-method')).error?.code === -32601, 'an unknown method is not refused')
    await shown.page.evaluate(() => window.view.contentWindow.postMessage('not json-rpc', '*'))
    const before = await shown.view.locator('#view').textContent()
    await shown.view.evaluate(() => window.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: { isError: true, content: [{ type: 'text', text: 'forged' }] } }, '*'))
    await pause(100)
    expect(await shown.view.locator('#view').textContent() === before, 'the view accepted a message that is not from the host')
    expect(!shown.complaints.length, shown.complaints.join('\n'))
    await shown.close()
  })

  check(`${name}: may not use the network, and does not try`, async () => {
    const shown = await open()
    expect(!shown.complaints.length, shown.complaints.join('\n'))
    const blocked = await shown.view.evaluate(() => fetch('http://127.0.0.1:9/').then(() => false, () => true))
    expect(blocked && shown.complaints.some((text) => /Content Security Policy/.test(text)), 'the sandbox does not hold')
    await shown.close()
  })

  check(`${name}: does nothing any more after its teardown`, async () => {
    const shown = await open()
    expect(JSON.stringify(await shown.say('teardownResource', {})) === '{}', 'it is not answered with {}')
    const before = await shown.page.evaluate(() => window.seen.length)
    await shown.view.locator('button:enabled').evaluateAll((buttons) => buttons.forEach((button) => button.click()))
    await shown.page.evaluate(() => { window.view.style.width = '400px' })
    await shown.say('sendHostContextChange', { theme: 'dark', locale: 'es' })
    for (let i = 0; i < 4; i++) await shown.page.clock.fastForward(400_000)
    await pause(300)
    expect(await shown.page.evaluate(() => window.seen.length) === before, 'it still talks')
    expect(await shown.view.evaluate(() => document.documentElement.lang) === 'en', 'it still listens')
    await shown.close()
  })
}

// --- the feed

async function checkFeed() {
  const filters = { limit: 10, from: '2020-01-01', issuer: issuerId }
  const feed = (options, input = { limit: 10 }, result = asResult(listed)) => show('filings-feed', input, result, options)

  common('filings-feed', { limit: 10 }, asResult(listed))

  check('filings-feed: shows the result, and that the market is simulated', async () => {
    const shown = await feed()
    await rows(shown).first().waitFor()
    const titles = await shown.view.locator('.row-open').allTextContents()
    expect(JSON.stringify(titles) === JSON.stringify(listed.data.map((report) => report.title)), `shows ${titles}`)
    expect(await shown.view.locator('.simulated').isVisible() === listed.data[0].title.startsWith('[Simulación]'), 'the banner is wrong')
    await shown.close()
  })

  check('filings-feed: searches as one types, keeps filters, takes them away', async () => {
    const shown = await feed({}, filters)
    const searches = () => shown.calls.filter((call) => call.arguments.search) // and not the feed's own refresh
    const { clock } = shown.page
    await clock.pauseAt(await shown.page.evaluate(() => Date.now()) + 5000) // typing is fast on a slow machine too
    for (const letter of 'sociedad') {
      await shown.view.locator('[data-key=search]').pressSequentially(letter)
      await clock.fastForward(20)
    }
    expect(!searches().length, 'it did not wait for the end')
    await clock.fastForward(500)
    await until(() => searches().length > 0, 'a search')
    await clock.fastForward(500)
    await clock.resume()
    await pause(200)
    expect(searches().length === 1, `it searched ${searches().length} times`)
    const { arguments: args } = searches()[0]
    expect(args.search === 'sociedad' && args.issuer === issuerId && args.from === '2020-01-01' && args.page === 1, JSON.stringify(args))
    await untilFocused(shown, 'search')
    await shown.shoot('filings-feed-filters')
    await shown.view.locator('[data-key="filter issuer"]').click()
    await until(() => searches().length === 2, 'a second search')
    expect(!('issuer' in searches()[1].arguments) && searches()[1].arguments.from === '2020-01-01', JSON.stringify(searches()[1].arguments))
    await shown.close()
  })

  check('filings-feed: shows one type', async () => {
    const shown = await feed()
    const chip = shown.view.getByRole('button', { name: 'OIR Other relevant information' })
    await chip.click()
    await until(() => lastCall(shown)?.arguments.type === 'OIR', 'a call')
    expect(await chip.getAttribute('aria-pressed') === 'true', 'the chip is not pressed')
    await untilFocused(shown, 'type OIR')
    await until(async () => (await shown.view.locator('.row .badge').allTextContents()).every((text) => text.startsWith('OIR')), 'only OIR')
    await shown.close()
  })

  check('filings-feed: turns pages by what the answer says', async () => {
    const shown = await feed()
    expect(await shown.view.locator('[data-key=newer]').isDisabled(), 'there is something newer than the newest')
    // As if two reports had not fitted into the answer.
    shown.answer = async (name, args) => asResult({ ...await data(name, { ...args, limit: 8 }), page: 2, limit: 8, next: { page: 3, limit: 8 } })
    await shown.view.locator('[data-key=older]').click()
    await shown.view.getByText(/^9–16 of/).waitFor()
    expect(JSON.stringify(lastCall(shown).arguments) === '{"page":2,"limit":10}', JSON.stringify(lastCall(shown).arguments))
    await shown.view.locator('[data-key=older]').click()
    await until(() => shown.calls.length === 2, 'a call')
    expect(JSON.stringify(lastCall(shown).arguments) === '{"page":3,"limit":8}', JSON.stringify(lastCall(shown).arguments))
    await until(async () => await shown.view.locator('[aria-busy=true]').count() === 0, 'its end')
    await untilFocused(shown, 'older')
    await shown.close()
  })

  check('filings-feed: opens a report with its evidence, and goes back', async () => {
    const { id, pdf_url, attribution } = proven
    const evidence = proven.evidence_en.length ? proven.evidence_en : proven.evidence // the host speaks English
    const { data: [brief], ...rest } = await data('search_reports', { search: id })
    const shown = await feed({}, { limit: 10 }, asResult({ ...rest, data: [...listed.data.filter((report) => report.id !== id).slice(0, 4), brief] }))
    await shown.view.locator(`[data-key="open ${id}"]`).click()
    await shown.view.locator('.pane').getByText(attribution.notice).waitFor()
    expect(JSON.stringify(lastCall(shown)) === JSON.stringify({ name: 'get_report', arguments: { id } }), JSON.stringify(lastCall(shown)))
    const text = await shown.view.locator('.evidence').textContent()
    for (const { quote, page } of evidence) expect(text.includes(quote) && text.includes(`page ${page}`), `no proof: ${quote}`)
    await untilFocused(shown, 'opened')
    let context
    await until(async () => (context = await shown.page.evaluate(() => window.modelContext?.content[0].text)), 'the model context')
    expect(context?.includes(id) && context.includes('quoted data'), `the model context is ${context}`)
    await shown.view.locator('[data-key=document]').click()
    await until(async () => await shown.page.evaluate(() => window.opened) === pdf_url, 'the document to be opened')
    await shown.page.keyboard.press('Escape')
    await untilFocused(shown, `open ${id}`)
    await shown.close()
  })

  check('filings-feed: opens a report that others are related to', async () => {
    const shown = await feed()
    const detail = (id, more) => ({ ...proven, id, title: `[Simulación] ${id}`, ...more })
    const details = {
      'ip-1': detail('ip-1', { corrected_by: 'ip-2', related: [{ id: 'ip-3', cnmv_registration_number: '3', published_at: null, text: 'Amplía la anterior' }, { id: null, cnmv_registration_number: '4', published_at: null, text: null }], evidence: [{ sentence: 'Una frase.', quote: 'las palabras del documento', page: 3 }], evidence_en: [], summary_method: 'model' }),
      'ip-2': detail('ip-2'),
    }
    shown.answer = async (name, { id }) => (details[id] ? asResult(details[id]) : { isError: true, content: [{ type: 'text', text: 'There is no such report.' }] })
    await shown.say('sendToolResult', asResult({ ...listed, data: [hostile('ip-1', { title: '[Simulación] uno' })] }))
    await shown.view.locator('[data-key="open ip-1"]').click()
    await shown.view.getByText('las palabras del documento').waitFor()
    await shown.shoot('filings-feed-related')
    await shown.view.locator('[data-key="related ip-2"]').click()
    await shown.view.getByRole('heading', { name: '[Simulación] ip-2' }).waitFor()
    await shown.page.keyboard.press('Escape')
    await untilFocused(shown, 'related ip-2')
    await shown.view.locator('[data-key="related ip-3"]').click()
    await shown.view.getByText('There is no such report.').waitFor()
    details['ip-3'] = detail('ip-3')
    await shown.view.locator('[data-key=retry]').click()
    await shown.view.getByRole('heading', { name: '[Simulación] ip-3' }).waitFor()
    await shown.close()
  })

  check('filings-feed: breaks no word of filters, and nothing is too wide', async () => {
    const filters = { issuer: issuerId, category: 'Modificaciones estructurales y operaciones corporativas', kind: 'company', from: '2020-01-01', to: '2999-12-31', search: 'x'.repeat(300) }
    const shown = await show('filings-feed', filters, asResult({ ...listed, data: [], total: 0, next: null }), { width: 320, context: { locale: 'es-ES' } })
    await shown.view.locator('[data-key="filter category"]').waitFor()
    await shown.shoot('filings-feed-filters')
    await expectWhole(shown, 'filters')
    await shown.say('sendToolInput', { arguments: { category: 'x'.repeat(300) } })
    await shown.say('sendToolResult', asResult({ data: ODD, total: 3, page: 1, limit: 10, seq: 1, next: null }))
    await shown.view.getByText(HOSTILE.slice(13)).first().waitFor()
    await shown.shoot('filings-feed-filters-odd')
    const wide = await shown.view.evaluate(() => document.documentElement.scrollWidth)
    expect(wide <= 320, `it is ${wide} pixels wide`)
    await shown.close()
  })

  check('filings-feed: adds new reports, announces them, and keeps the focus', async () => {
    const shown = await feed()
    let news = 1
    shown.answer = async () => asResult({ ...listed, seq: listed.seq + news, data: [...Array.from({ length: news }, (_, i) => fresh(news - i)), ...listed.data].slice(0, 10) })
    const key = `open ${listed.data[2].id}`
    await shown.view.locator(`[data-key="${key}"]`).focus()
    await shown.page.clock.fastForward(16_000)
    await shown.view.locator('.row.new').waitFor()
    expect(await shown.view.locator('.row').first().locator('.row-open').textContent() === '[Simulación] Nueva 1', 'it is not the first')
    expect((await said(shown)).includes('1 new report'), `said ${await said(shown)}`)
    expect(await focused(shown) === key, 'the keyboard was moved')
    await shown.shoot('filings-feed-new')
    news = 2
    await shown.view.locator('[data-key=refresh]').click()
    await until(async () => await shown.view.locator('.row.new').count() === 2, 'the second')
    await shown.close()
  })

  check('filings-feed: polls less often when it fails, and not while hidden', async () => {
    const shown = await feed()
    shown.answer = async () => { throw new Error('down') }
    await shown.page.clock.fastForward(16_000)
    await shown.view.getByText('it is tried again').waitFor()
    expect(shown.calls.length === 1, `${shown.calls.length} calls`)
    await shown.page.clock.fastForward(16_000)
    await pause(200)
    expect(shown.calls.length === 1, 'it was as impatient as before')
    await shown.page.clock.fastForward(16_000)
    await until(() => shown.calls.length === 2, 'another try')
    shown.answer = tool
    await shown.view.locator('[data-key=live]').click()
    await shown.page.clock.fastForward(600_000)
    expect(shown.calls.length === 2, 'it polled while paused')
    await shown.view.locator('[data-key=live]').click()
    await until(() => shown.calls.length === 3, 'a call')
    await pause(200)
    await shown.view.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    })
    await shown.page.clock.fastForward(600_000)
    await pause(200)
    expect(shown.calls.length === 3, 'it asked while it was hidden')
    await shown.close()
  })

  check('filings-feed: shows an error of a call, and tries again', async () => {
    const shown = await feed()
    shown.answer = async () => ({ isError: true, content: [{ type: 'text', text: 'Ask again in a minute.' }] })
    await shown.view.locator('[data-key=older]').click()
    await shown.view.getByRole('alert').getByText('Ask again in a minute.').waitFor()
    expect(await rows(shown).count() === listed.data.length, 'the list is gone')
    shown.answer = () => new Promise(() => {}) // for ever
    await shown.view.locator('[data-key=retry]').click()
    await until(() => shown.calls.length === 2, 'another call')
    await shown.page.clock.fastForward(21_000)
    await shown.view.getByRole('alert').getByText('no answer in time').waitFor()
    shown.answer = tool
    await shown.view.locator('[data-key=retry]').click()
    await shown.view.getByText(/^11–20 of/).waitFor()
    expect(await shown.view.getByRole('alert').count() === 0, 'the error is still there')
    await shown.close()
  })

  check('filings-feed: shows hostile and odd reports as text', async () => {
    const shown = await feed({}, { search: '<b>', category: '<script>', to: '2999-01-01' }, asResult({ data: ODD, total: 1_234_567, page: 1, limit: 10, seq: 1, next: null }))
    await shown.view.getByText(HOSTILE.slice(13)).first().waitFor()
    expect(await shown.view.locator('#view :is(img, script, b b, i, [onload], [onerror])').count() === 0, 'text became markup')
    expect(!(await shown.page.evaluate(() => window.hacked)), 'text became code')
    const text = await shown.view.locator('#view').textContent()
    expect(!text.includes('\u202E') && text.includes('1,234,567'), 'it is not shown as it should be')
    await shown.shoot('filings-feed-hostile')
    shown.answer = async () => asResult({ ...hostile('ip-1'), evidence: [null, { sentence: HOSTILE, quote: 5, page: 'x' }], related: [null, {}], categories: [null, HOSTILE], document: 3, attribution: { source: null, url: 'javascript:1', notice: HOSTILE }, source_url: 'javascript:1' })
    await shown.view.locator('[data-key="open ip-1"]').click()
    await shown.view.locator('.pane .attribution').waitFor()
    expect(await shown.view.locator('.pane [role=link]').count() === 0, 'it would open an address that is none')
    await shown.page.keyboard.press('Escape')
    for (const odd of [{}, { data: null, total: 'x', page: -1, limit: 0, next: 5 }, { data: {}, next: { page: 'x' } }]) await shown.say('sendToolResult', asResult(odd))
    for (const odd of [{ content: [] }, { content: [{ type: 'text', text: 'no json' }] }]) await shown.say('sendToolResult', odd)
    await shown.view.getByRole('alert').waitFor()
    expect(!shown.complaints.length, shown.complaints.join('\n'))
    await shown.close()
  })

  check('filings-feed: can be used with the keyboard alone', async () => {
    const shown = await feed()
    const press = async (key, wanted, most = 30) => {
      for (let i = 0; i < most; i++) {
        const before = await focused(shown)
        await shown.page.keyboard.press(key)
        // From the host into the view it takes a while.
        await until(async () => await focused(shown) !== before, '', 5000).catch(() => {})
        if (await focused(shown) === wanted) return
      }
      throw new Error(`${wanted} is not reached; the keyboard is at ${await focused(shown)}`)
    }
    await press('Tab', 'search')
    await shown.page.keyboard.type('sociedad')
    await shown.page.keyboard.press('Enter')
    await until(() => lastCall(shown)?.arguments.search === 'sociedad', 'a search')
    await until(async () => await shown.view.locator('[aria-busy=true]').count() === 0, 'its end')
    await press('Tab', 'type IP')
    const first = await shown.view.locator('.row-open').first().getAttribute('data-key')
    await press('Tab', first)
    await shown.page.keyboard.press('Enter')
    await untilFocused(shown, 'opened')
    await press('Shift+Tab', 'back')
    await shown.page.keyboard.press('Enter')
    await untilFocused(shown, first)
    await shown.close()
  })
}

// --- the figures

async function checkAnalytics() {
  const result = await tool('get_analytics')
  const figures = result.structuredContent
  common('analytics', {}, result)

  check('analytics: draws every day, every hour and every issuer', async () => {
    const shown = await show('analytics', {}, result, { width: 900 })
    await until(async () => await shown.view.locator('.chart-daily .mark').count() === figures.daily.length, 'the days')
    expect(await shown.view.locator('.chart-heat .mark').count() === 168, 'there are not 168 hours in the week')
    expect(await shown.view.locator('.chart-issuers li').count() === figures.issuers.length, 'issuers are missing')
    const { date, total, IP } = figures.daily.at(-1)
    const label = await shown.view.locator('.chart-daily .mark').last().getAttribute('aria-label')
    expect(label.includes(new Intl.NumberFormat('en-GB').format(total)) && label.includes(`IP ${IP}`), `${date} has the label ${label}`)
    await shown.view.locator('.chart-daily summary').click()
    expect(await shown.view.locator('.chart-daily tbody tr').count() === figures.daily.length, 'the table is not whole')
    await shown.close()
  })

  check('analytics: shows the tooltip of marks by keyboard', async () => {
    const shown = await show('analytics', {}, result)
    const marks = shown.view.locator('.chart-heat .mark')
    await marks.first().focus()
    await shown.page.keyboard.press('ArrowDown')
    await shown.page.keyboard.press('ArrowRight')
    await untilFocused(shown, 'heat 25')
    const tip = shown.view.locator('.chart-heat .tip')
    expect((await tip.textContent()).startsWith('Tuesday, 01:00 to 02:00') && await tip.isVisible(), `tooltip: ${await tip.textContent()}`)
    await shown.shoot('analytics-tip')
    await shown.page.keyboard.press('Escape')
    expect(!(await tip.isVisible()), 'Escape does not hide it')
    await shown.close()
  })

  check("analytics: opens an issuer's reports, and one of them", async () => {
    const shown = await show('analytics', {}, result)
    const [issuer] = figures.issuers
    await shown.view.locator('.chart-issuers button').first().click()
    await rows(shown).first().waitFor()
    const call = calls(shown, 'search_reports')[0]
    expect(call.arguments.issuer === issuer.id, JSON.stringify(call))
    await shown.view.locator('.row-open').first().click()
    await shown.view.locator('.pane .attribution').waitFor()
    await shown.page.keyboard.press('Escape')
    await rows(shown).first().waitFor()
    await shown.page.keyboard.press('Escape')
    await untilFocused(shown, `issuers ${issuer.id}`)
    await shown.close()
  })

  check('analytics: shows odd figures without breaking', async () => {
    const shown = await show('analytics', {}, result)
    const odd = [
      {}, { totals: null, daily: 5, weekday_hours: [1], issuers: {}, pace: null },
      { totals: { all: 1e6, by_type: { IP: 'x', HR: null, OIR: -1 } }, daily: [null, { date: 'x' }, { date: '2026-01-01', IP: 1e6 }], weekday_hours: Array(7).fill(Array(24).fill(0)), issuers: [null, { id: 'x', name: HOSTILE, total: 1e9 }], categories: [{ category: HOSTILE, total: 0 }], pace: { today: 'x', usual: 0, ratio: null } },
    ]
    for (const one of odd) await shown.say('sendToolResult', asResult(one))
    await shown.view.getByText(HOSTILE).first().waitFor()
    await shown.shoot('analytics-odd')
    expect(!shown.complaints.length, shown.complaints.join('\n'))
    await shown.close()
  })
}

// --- the issuer

async function checkIssuer() {
  const result = await tool('get_issuer', { id: issuerId })
  const issuer = result.structuredContent
  common('issuer', { id: issuerId }, result)

  check('issuer: says who it is, and what it filed last', async () => {
    const shown = await show('issuer', { id: issuerId }, result)
    await shown.view.getByRole('heading', { level: 1, name: issuer.name }).waitFor()
    const text = await shown.view.locator('#view').textContent()
    for (const fact of [issuer.ticker, issuer.market, issuer.cif, ...issuer.isins, ...issuer.former_names, issuer.attribution.notice]) expect(!fact || text.includes(fact), `${fact} is not shown`)
    expect(await rows(shown).count() === issuer.latest_reports.length, 'reports are missing')
    await shown.close()
  })

  check('issuer: shows more reports, by month and by type', async () => {
    const shown = await show('issuer', { id: issuerId }, result)
    const all = await data('search_reports', { issuer: issuerId, limit: 20 })
    if (issuer.report_count > issuer.latest_reports.length) {
      await shown.view.locator('[data-key=more]').click()
      await until(async () => await rows(shown).count() >= all.data.length, 'more')
    }
    const ids = await shown.view.locator('.row-open').evaluateAll((buttons) => buttons.map((button) => button.dataset.key))
    expect(new Set(ids).size === ids.length, 'one is there twice')
    const months = await shown.view.locator('.month-name').allTextContents()
    expect(new Set(months).size === months.length, `months: ${months}`)
    const { type } = all.data[0]
    await shown.view.locator(`[data-key="type ${type}"]`).click()
    await until(() => lastCall(shown).arguments.type === type && lastCall(shown).arguments.issuer === issuerId, 'a call')
    await until(async () => (await rows(shown).count()) > 0 && (await shown.view.locator('.row .badge').allTextContents()).every((text) => text.startsWith(type)), `only ${type}`)
    await shown.close()
  })

  check('issuer: shows an odd issuer without breaking', async () => {
    const shown = await show('issuer', { id: issuerId }, asResult({ id: 'X', name: `${HOSTILE} ${'x'.repeat(3000)}`, kind: 'constructor', isins: 5, former_names: [HOSTILE, null, 7], aliases: ['a'], report_count: 1e6, latest_reports: ODD, attribution: 'x' }))
    await shown.view.getByText(HOSTILE).first().waitFor()
    await shown.shoot('issuer-odd')
    await shown.say('sendToolResult', asResult({}))
    await shown.view.getByRole('alert').waitFor()
    expect(!shown.complaints.length && !(await shown.page.evaluate(() => window.hacked)), shown.complaints.join('\n'))
    await shown.close()
  })
}

await checkFeed()
await checkAnalytics()
await checkIssuer()
const failures = await runChecks()

await browser.close()
await client.close()
hostOrigin.server.close()
viewOrigin.server.close()
process.exit(failures ? 1 : 0)
