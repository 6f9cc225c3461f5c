// Opens the three views in the web face of the MCP Inspector, a host that
// others wrote, with Chromium: wide and narrow, light and dark. Each must show
// what its tool answered, answer to clicks, pass axe, and ask for nothing that
// its content security policy forbids.
//
//   node inspector-views.mjs BASE_URL [--screenshots DIR]
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import axe from 'axe-core'
import { chromium } from 'playwright-core'
import { check } from './mcp-check.mjs'
import { runWeb } from './node_modules/@modelcontextprotocol/inspector/clients/web/build/index.js'

const { values: { screenshots }, positionals: [base] } = parseArgs({ allowPositionals: true, options: { screenshots: { type: 'string' } } })
if (screenshots) await mkdir(screenshots, { recursive: true })

const patience = 180_000 // no measure of speed
const widths = [1200, 360]
const token = randomBytes(16).toString('hex')

// freePort finds a port, since the Inspector needs one as an argument.
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

// startInspector starts it in this process, as its launcher does, so that it
// ends with it.
async function startInspector() {
  const [port, sandbox] = [await freePort(), await freePort()]
  Object.assign(process.env, {
    HOST: '127.0.0.1', CLIENT_PORT: port, MCP_SANDBOX_PORT: sandbox, MCP_AUTO_OPEN_ENABLED: 'false',
    MCP_INSPECTOR_API_TOKEN: token, MCP_INSPECTOR_SECRET_STORE: 'memory',
  })
  let ended
  runWeb(['node', 'inspector']).then(() => { ended = 'it ended' }, (e) => { ended = e.stack })
  const url = `http://127.0.0.1:${port}/`
  for (let tries = 0; !(await fetch(url).catch(() => null))?.ok; tries++) {
    assert.ok(tries < 1800 && !ended, `the Inspector does not start: ${ended}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return url
}

// connect connects the Inspector to the service, with a tool's view to be opened next.
async function connect(browser, inspector, tool, args) {
  const page = await browser.newPage({ viewport: { width: 1800, height: 1100 }, colorScheme: 'light', locale: 'en-GB' })
  page.setDefaultTimeout(patience)
  const wrong = []
  page.on('pageerror', (e) => wrong.push(e.stack))
  page.on('console', (m) => {
    const own = m.location().url.startsWith(inspector) || m.location().url.startsWith('https://') // the Inspector's fonts
    if (isUnused(m.text())) return
    if ((m.type() === 'error' && !own) || isForbidden(m.text())) wrong.push(`${m.text()} (${m.location().url})`)
  })
  const query = new URLSearchParams({
    serverUrl: `${base}/api/mcp`, transport: 'http', autoConnect: token, openApp: tool, appArgs: Buffer.from(JSON.stringify(args)).toString('base64url'),
  })
  await page.goto(`${inspector}?${query}`)
  await page.locator('[data-testid="connection-status"][data-status="connected"]').waitFor()
  await page.getByRole('button', { name: 'Close monitoring sidebar' }).click()
  const frame = page.frameLocator('iframe').frameLocator('iframe')
  return { page, wrong, frame, inner: () => page.frames().findLast((f) => f.parentFrame()?.parentFrame()) }
}

// The inspector puts a view into the body of a page of its own, where the policy
// that the view carries is not read; the inspector's own is in force there.
const isUnused = (text) => text.includes('was delivered via a <meta> element outside the document')
const isForbidden = (text) => /content security policy/i.test(text)

// open opens the view that is next.
async function open({ page, frame }) {
  await page.getByRole('button', { name: 'Open App' }).click()
  await frame.locator('main').waitFor()
}

// choose makes the view of another tool the next. The Inspector lists tools by
// their titles.
async function choose({ page }, tool, args) {
  const { title } = (await ask('tools/list', {})).tools.find((t) => t.name === tool)
  await page.getByRole('button', { name: new RegExp(`^${title}`) }).click()
  for (const [name, value] of Object.entries(args)) await page.getByRole('textbox', { name }).fill(value)
}

// resize gives the view a width. The Inspector's own panes have a least one, so
// that its window cannot.
async function resize({ page, inner }, width) {
  await page.locator('iframe').evaluate((e, width) => { e.style.width = `${width}px`; e.style.minWidth = `${width}px` }, width)
  await inner().waitForFunction((width) => Math.abs(innerWidth - width) <= 32, width)
}

// findNoFault runs axe on the view alone. Landmarks of the whole page belong to
// the host and are not checked.
async function findNoFault({ inner }) {
  await inner().evaluate(axe.source)
  const { violations, passes } = await inner().evaluate(() => globalThis.axe.run(document, { rules: { region: { enabled: false } } }))
  assert.ok(passes.length > 10)
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`), [])
}

// checkAppearance checks a view in both themes and widths, and leaves it wide and light.
async function checkAppearance(view, name) {
  for (const theme of ['light', 'dark']) {
    for (const width of widths) {
      await check(`${name}, ${theme}, ${width} px: no fault that axe finds, nothing wider than the frame`, async () => {
        await resize(view, width)
        await view.inner().waitForFunction((theme) => document.documentElement.style.colorScheme === theme, theme)
        if (screenshots) await view.page.locator('iframe').screenshot({ path: join(screenshots, `${name}-${theme}-${width}.png`) })
        await findNoFault(view)
        assert.ok(await view.inner().evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it must be scrolled sideways')
      })
    }
    await view.page.getByRole('button', { name: 'Toggle color scheme' }).click()
  }
  await resize(view, widths[0])
}

// opens clicks a button that opens a report, and goes back.
async function opens({ frame }, what, button) {
  await check(`${what} opens, and Back closes`, async () => {
    await button.click()
    await frame.getByRole('heading', { level: 2, name: /\S/ }).and(frame.locator('#opened')).waitFor()
    await frame.getByRole('link', { name: 'At the regulator' }).or(frame.getByRole('button', { name: 'At the regulator' })).waitFor()
    await frame.getByRole('button', { name: 'Back', exact: true }).click()
    await frame.locator('#opened').waitFor({ state: 'hidden' })
  })
}

const rows = ({ frame }) => frame.locator('main ol.rows > li')
const titles = (view) => rows(view).getByRole('button')

async function showsOnly(view, type) {
  await check(`the chip ${type} shows ${type} only`, async () => {
    await view.frame.getByRole('group', { name: 'Type' }).getByRole('button', { name: new RegExp(`^${type}`) }).click()
    await view.inner().waitForFunction((type) => {
      const tags = [...document.querySelectorAll('main ol.rows > li .badge')]
      return tags.length > 0 && tags.every((tag) => tag.firstChild.data === type)
    }, type)
  })
  await view.frame.getByRole('group', { name: 'Type' }).getByRole('button', { name: 'All' }).click()
}

const views = {
  async feed(view) {
    await open(view)
    await view.frame.getByRole('heading', { level: 1, name: 'Reports' }).waitFor()
    await titles(view).nth(9).waitFor()
    await checkAppearance(view, 'feed')
    await opens(view, 'a report of the feed', titles(view).first())
    await check('Older shows other reports', async () => {
      const before = await titles(view).allInnerTexts() // one title alone may be another report's too
      const range = view.frame.getByRole('navigation', { name: 'Pages' })
      assert.match(await range.innerText(), /1–10 /)
      await view.frame.getByRole('button', { name: 'Older' }).click()
      await range.getByText(/^11–20 /).waitFor()
      assert.notDeepEqual(await titles(view).allInnerTexts(), before)
    })
    await showsOnly(view, 'IP')
    await check('what is typed is searched for', async () => {
      await view.frame.getByRole('searchbox', { name: 'Search' }).fill('nosuchword')
      await view.frame.getByText('No reports match.').waitFor()
    })
    await check('the view can reach nothing but the host', async () => {
      const before = view.wrong.length
      assert.equal(await view.inner().evaluate((url) => fetch(url).then(() => 'reached', () => 'refused'), `${base}/livez`), 'refused')
      for (let i = 0; i < 1500 && view.wrong.length === before; i++) await view.page.waitForTimeout(20)
      assert.ok(isForbidden(view.wrong.splice(before).join()), 'this checker does not see what the policy forbids')
    })
  },
  async analytics(view) {
    await choose(view, 'get_analytics', {}) // which takes no arguments, so that it is opened at once
    await view.frame.locator('main').waitFor()
    await view.frame.getByRole('heading', { level: 1, name: 'The market in figures' }).waitFor()
    await view.frame.locator('svg[role=group]').nth(1).waitFor()
    await checkAppearance(view, 'analytics')
    await check('an issuer among the most active opens, and Back closes', async () => {
      await view.frame.locator('button.bar-row').first().click()
      await view.frame.getByRole('heading', { level: 2, name: /\S/ }).and(view.frame.locator('#opened')).waitFor()
      await view.frame.getByRole('button', { name: 'Back', exact: true }).click()
      await view.frame.locator('#opened').waitFor({ state: 'hidden' })
    })
  },
  async issuer(view) {
    await choose(view, 'get_issuer', { id: await activeIssuer() })
    await open(view)
    await titles(view).nth(2).waitFor()
    await checkAppearance(view, 'issuer')
    await opens(view, 'a report of the issuer', titles(view).first())
    await check('more reports can be loaded', async () => {
      const before = await titles(view).count()
      await view.frame.getByRole('button', { name: 'more reports' }).click()
      await titles(view).nth(before).waitFor()
    })
    await showsOnly(view, 'OIR')
  },
}

// ask calls the service directly.
async function ask(method, params) {
  const answer = await fetch(`${base}/api/mcp`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await answer.json()).result
}

// activeIssuer finds one that has more reports than are shown at first.
async function activeIssuer() {
  return (await ask('tools/call', { name: 'get_analytics', arguments: {} })).structuredContent.issuers[0].id
}

const inspector = await startInspector()
const browser = await chromium.launch({
  timeout: patience,
  executablePath: process.env.CHROME_PATH ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', // nothing but this machine is asked
  ],
})
try {
  const view = await connect(browser, inspector, 'search_reports', { limit: 10 })
  for (const [name, run] of Object.entries(views)) {
    await check(`${name}: it opens, and all was tried`, () => run(view))
    await check(`${name}: nothing went wrong in the page, and nothing was forbidden`, () => assert.deepEqual(view.wrong.splice(0), []))
  }
} catch (e) {
  console.log(`WRONG ${e.stack}`)
  process.exitCode = 1
} finally {
  await browser.close()
}
process.exit() // and the Inspector with it
