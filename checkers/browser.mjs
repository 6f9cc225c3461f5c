// What the checkers that use a browser share. CHROME_PATH says where the browser is.
import axe from 'axe-core'
import { HtmlValidate } from 'html-validate'
import { chromium } from 'playwright-core'

export const PATIENCE = 120_000 // of a machine that has other things to do

export const launch = () => chromium.launch({
  timeout: PATIENCE,
  executablePath: process.env.CHROME_PATH ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
})

export function expect(condition, message) {
  if (!condition) throw new Error(message)
}

export const same = (got, want, what) => expect(got === want, `${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)

// start opens a browser for the pages of a service.
export async function start(base) {
  const browser = await launch()

  // check runs a check and prints a line about it.
  let failures = 0
  async function check(name, action) {
    const began = Date.now()
    try {
      await action()
      console.log(`ok    ${name} (${Date.now() - began} ms)`)
    } catch (error) {
      failures++
      console.log(`FAIL  ${name}\n      ${String(error.stack ?? error).split('\n').slice(0, 14).join('\n      ')}`)
    }
  }

  // open shows an address in a window of its own, and collects what the browser
  // complains about and every request to another host.
  async function open(path, { width = 1280, height = 900, ...context } = {}) {
    const own = await browser.newContext({ viewport: { width, height }, locale: 'es-ES', ...context })
    own.setDefaultTimeout(PATIENCE)
    const page = await own.newPage()
    page.complaints = []
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) page.complaints.push(message.text()) })
    page.on('pageerror', (error) => page.complaints.push(error.message))
    page.on('request', (request) => { if (new URL(request.url()).origin !== new URL(base).origin) page.complaints.push(`requested ${request.url()}`) })
    page.done = async () => {
      await own.close()
      same(page.complaints.join('\n'), '', 'complaints of the browser')
    }
    await page.goto(base + path)
    return page
  }

  // finish ends the process, with 1 when a check failed.
  async function finish() {
    await browser.close()
    process.exit(failures ? 1 : 0)
  }
  return { browser, check, open, finish }
}

const validator = new HtmlValidate({ extends: ['html-validate:standard'], rules: { 'long-title': 'off', 'no-trailing-whitespace': 'off', 'no-implicit-input-type': 'off' } })

// faultsOf returns the faults of the markup of a page.
export async function faultsOf(html) {
  const report = await validator.validateString(html)
  return report.results.flatMap((r) => r.messages.map((m) => `${m.line}:${m.column} ${m.ruleId}: ${m.message}`)).slice(0, 8).join('\n')
}

// violationsOf returns what axe finds in a page, whose window must bypass the policy
// for scripts.
export async function violationsOf(page) {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
  return violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`).join('\n')
}
