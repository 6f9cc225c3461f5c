// Holds the front page and the documents for agents to Lighthouse, which others
// wrote: its category for agents, and the conformance test of Agentic Resource
// Discovery that it brings.
//
//   node lighthouse.mjs BASE_URL
//
// It needs Node 22 and a Chromium; CHROME_PATH says where that is.
import assert from 'node:assert/strict'
import { launch } from 'chrome-launcher'
import lighthouse from 'lighthouse'
import config from 'lighthouse/core/config/agentic-browsing-config.js'
import { ConformanceTester } from 'lighthouse/third-party/ard/ard.js'

const base = process.argv[2]
const failures = []

// The manifest by itself, under both of its names.
for (const name of ['ard.json', 'ai-catalog.json']) {
  const response = await fetch(`${base}/.well-known/${name}`)
  assert.equal(response.status, 200, name)
  const tester = new ConformanceTester()
  tester.validate_manifest(await response.text(), name)
  for (const { element, message } of tester.errors) failures.push(`${name}: ${element}: ${message}`)
  for (const { element, message } of tester.warnings) {
    if (!message.includes('application/vnd.oai.openapi+json')) failures.push(`${name}: ${element}: ${message}`) // the one type it does not know
  }
}

// The page and all it leads to, as a browser of an agent sees them.
const chrome = await launch({
  maxConnectionRetries: 600, // half a second each, for a slow machine
  chromePath: process.env.CHROME_PATH ?? '/usr/bin/chromium',
  chromeFlags: [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync',
  ],
})
try {
  const { lhr } = await lighthouse(`${base}/`, { port: chrome.port, onlyCategories: ['agentic-browsing'], logLevel: 'error', maxWaitForFcp: 180_000, maxWaitForLoad: 180_000 }, config)
  if (lhr.runtimeError) failures.push(`Lighthouse: ${lhr.runtimeError.message}`)
  for (const { id } of lhr.categories['agentic-browsing'].auditRefs) {
    const audit = lhr.audits[id]
    if (audit.scoreDisplayMode === 'notApplicable') {
      if (id === 'llms-txt' || id === 'ard-schema') failures.push(`${id}: Lighthouse found nothing to check`)
      console.log(`${id}: does not apply`)
      continue
    }
    console.log(`${id}: ${audit.score}`)
    if (!(audit.score >= 0.9)) { // what Lighthouse shows as passed
      const said = [audit.explanation, audit.errorMessage, audit.displayValue].filter(Boolean).join(' ')
      failures.push(`${id}: ${audit.title}. ${said} ${JSON.stringify(audit.details?.items ?? [])}`)
    }
  }
} finally {
  await chrome.kill()
}
assert.deepEqual(failures, [])
console.log('Lighthouse found nothing wrong')
