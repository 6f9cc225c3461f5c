// Uses the site as people do: with a browser, with and without a mouse, with and
// without JavaScript, in both languages and themes.
//
//   node site.mjs BASE_URL KEY SIMULATOR_URL [--screenshots DIR]
//
// The reports come from the simulator at SIMULATOR_URL, which publishes one when it
// is told to. Prints a line for each check and exits with 1 when one failed.
// CHROME_PATH says where the browser is.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, faultsOf, same, start, violationsOf } from './browser.mjs'

const [base, key, simulator, option, folder] = process.argv.slice(2)
if (!simulator || (option && option !== '--screenshots')) {
  console.error('usage: node site.mjs BASE_URL KEY SIMULATOR_URL [--screenshots DIR]')
  process.exit(2)
}
if (folder) mkdirSync(folder, { recursive: true })

const { check, open, finish } = await start(base)

const json = async (path) => (await fetch(base + path, { headers: { 'X-API-Key': key } })).json()
const publish = async (body) => {
  const answer = await fetch(`${simulator}/_sim/publish`, { method: 'POST', body: JSON.stringify(body) })
  expect(answer.ok, `the simulator answered ${answer.status}`)
  return answer.json()
}

const summarised = (await json('/api/v1/reports?limit=50')).data.find((r) => r.summary && r.pdf_url)
expect(summarised, 'no report has a summary')
const withIssuer = (await json('/api/v1/issuers?kind=company&limit=50')).data.find((i) => i.ticker)
const pages = {
  feed: '/', filtered: '/?type=OIR&without=securitisation', report: `/reports/${summarised.id}`, issuers: '/issuers', issuer: `/issuers/${withIssuer.id}`,
  shorts: '/shorts', dealings: '/dealings', moves: '/holdings?view=largest', analytics: '/analytics', calendar: '/calendar', dates: '/calendar?view=list', search: '/search?search=resultados', developers: '/developers', status: '/status', missing: '/no-such-page', nothing: '/?search=inexistentequenoexiste',
}
const WIDTHS = [320, 768, 1440, 2560]

// --- markup

for (const [name, path] of Object.entries(pages)) {
  await check(`${name}: the markup is valid in both languages`, async () => {
    for (const language of ['es', 'en']) {
      const answer = await fetch(base + path, { headers: { Accept: 'text/html', 'Accept-Language': language } })
      same(await faultsOf(await answer.text()), '', 'faults')
    }
  })
}

// --- each page in a browser

for (const [name, path] of Object.entries(pages)) {
  await check(`${name}: fits every width in both themes, and axe finds no fault`, async () => {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open(path, { colorScheme, bypassCSP: true }) // axe needs it
      if (name === 'missing') page.complaints.length = 0 // the browser reports its status
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 })
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        expect(over <= 0, `${width} pixels are ${over} too few`)
        if (width !== 320 && width !== 1440) continue
        same(await violationsOf(page), '', `${colorScheme}, ${width} pixels`)
      }
      await page.done()
    }
  })
}

await check('pages are painted at once, and nothing moves', async () => {
  for (const [name, path] of Object.entries(pages)) {
    if (name === 'missing') continue
    const page = await open(path)
    const measured = await page.evaluate(() => new Promise((resolve) => {
      let paint = 0, shift = 0
      new PerformanceObserver((list) => { for (const e of list.getEntries()) paint = e.startTime }).observe({ type: 'largest-contentful-paint', buffered: true })
      new PerformanceObserver((list) => { for (const e of list.getEntries()) if (!e.hadRecentInput) shift += e.value }).observe({ type: 'layout-shift', buffered: true })
      setTimeout(() => resolve({ paint, shift }), 1500)
    }))
    console.log(`      ${name}: largest contentful paint ${Math.round(measured.paint)} ms, layout shift ${measured.shift}`)
    expect(measured.shift < 0.01, `${name}: layout shift ${measured.shift}`)
    await page.done()
  }
})

await check('style, script and page without data are small', async () => {
  for (const [name, path] of Object.entries({ feed: '/?search=inexistentequenoexiste', report: pages.report, issuer: `${pages.issuer}?search=inexistentequenoexiste` })) {
    const text = await (await fetch(base + path, { headers: { Accept: 'text/html' } })).text()
    const files = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+\.(?:css|js))"/g)].map((m) => m[1])
    let bytes = Buffer.byteLength(text)
    for (const file of files) bytes += (await (await fetch(base + file)).arrayBuffer()).byteLength
    console.log(`      ${name}: ${bytes} bytes`)
    expect(bytes < 60_000, `${name} has ${bytes} bytes`)
  }
})

// --- what people do

await check('a published report arrives within two seconds, and nothing moves', async () => {
  const page = await open('/')
  const first = page.locator('#list [data-id]').first()
  const before = await first.getAttribute('data-id')
  await page.waitForResponse((r) => r.url().includes('/live'))
  const started = Date.now()
  await publish({ type: 'oir', title: 'Llegada en vivo' })
  const button = page.locator('.live button')
  await button.waitFor()
  console.log(`      arrived after ${Date.now() - started} ms`)
  same(await first.getAttribute('data-id'), before, 'the first row')
  expect(/^\(\d+\+?\) /.test(await page.title()), `the title is ${await page.title()}`)
  await button.click()
  await page.locator('#list h3', { hasText: 'Llegada en vivo' }).first().waitFor()
  expect(!/^\(/.test(await page.title()), 'the title still counts')
  await page.done()
})

await check('a page that stays open tells the present time, state and late reports', async () => {
  const page = await open('/')
  const rows = page.locator('#list .rows').first().locator(':scope > [data-id]')
  const second = await rows.nth(1).locator('time').first().getAttribute('datetime')
  await page.route('**/live*', async (route) => {
    const response = await route.fetch({ headers: { ...route.request().headers(), 'if-none-match': '' } })
    const late = `<li class="row" data-id="oir-0"><time datetime="${second}">00:00</time><span class="ago">hace 1 min</span><h3><a href="/">Tardía</a></h3></li>`
    const body = (await response.text()).replace('</li>', '</li>' + late).replace(/<span data-state.*?<\/span>/, '<span data-state="blind">Ciega</span>')
    await route.fulfill({ response, body, headers: { ...response.headers(), etag: '"changed"' } })
  })
  await page.locator('.state-blind', { hasText: 'Ciega' }).waitFor()
  await page.locator('.live button').click()
  await page.locator('#list [data-id="oir-0"]').waitFor()
  same(await rows.first().getAttribute('data-id') === 'oir-0', false, 'a late report is above a newer one')
  await page.evaluate(() => { ahead += 7_200_000; passTime() })
  same(await page.locator('.ago').count(), 0, 'relative times after two hours')
  await page.done()
})

await check('the search box completes, by keyboard alone', async () => {
  const page = await open('/')
  await page.keyboard.press('/')
  await page.keyboard.type(withIssuer.ticker)
  await page.locator('[role="option"]').first().waitFor()
  await page.keyboard.press('ArrowDown')
  same(await page.locator('#find').getAttribute('aria-activedescendant'), 'suggestion-0', 'the active option')
  await Promise.all([page.waitForURL('**/issuers/**'), page.keyboard.press('Enter')])
  expect((await page.locator('h1').textContent()).length > 0, 'no heading')
  await page.goBack()
  same(new URL(page.url()).pathname, '/', 'after going back')
  await page.locator('#find').fill('zzzz')
  await page.locator('.suggestions p').waitFor()
  await page.keyboard.press('Escape')
  expect(await page.locator('.suggestions').isHidden(), 'Escape does not close the completions')
  await page.done()
})

await check('search, facets, paging and the back button', async () => {
  const page = await open('/')
  await page.locator('#find').fill('resultados')
  await Promise.all([page.waitForURL('**/search?**'), page.locator('#find').press('Enter')])
  expect(await page.locator('mark').count() > 0, 'nothing is highlighted')
  const total = await page.locator('.count').textContent()
  const facet = page.locator('aside .ranking a').first()
  await Promise.all([page.waitForURL('**type=**'), facet.click()])
  await Promise.all([page.waitForURL((url) => !url.search.includes('type=')), page.goBack()])
  same(await page.locator('.count').textContent(), total, 'the total after going back')
  await page.goto(base + '/')
  await Promise.all([page.waitForURL('**page=2**'), page.locator('a[rel="next"]').click()])
  expect(await page.locator('#list [data-id]').count() > 0, 'the second page is empty')
  await Promise.all([page.waitForURL((url) => !url.search.includes('page=2')), page.locator('a[rel="prev"]').click()])
  await page.done()
})

await check('filters are in the address', async () => {
  const page = await open('/')
  await Promise.all([page.waitForURL('**type=OIR**'), page.locator('.chips .chip', { hasText: /^OIR$/ }).click()])
  expect(!(await page.locator('#list .badge').allTextContents()).some((t) => t !== 'OIR'), 'other types are shown')
  await Promise.all([page.waitForURL('**without=securitisation**'), page.locator('.chip.toggle').click()])
  expect(page.url().includes('type=OIR'), 'the type is lost')
  expect(!(await page.locator('#list .who').allTextContents()).some((t) => /fondo de tituli/i.test(t)), 'securitisation funds are shown')
  await page.locator('details summary.chip').click()
  await Promise.all([page.waitForURL('**kind=company**'), page.locator('select[name="kind"]').selectOption('company')])
  await page.done()
})

await check('a report shows its evidence', async () => {
  const page = await open(pages.report)
  await page.locator('.sentences .source').first().waitFor({ state: 'visible' })
  const sentence = page.locator('.sentences summary').first() // none if all sentences are those of the document
  if (await sentence.count()) {
    await sentence.focus()
    await page.keyboard.press('Enter')
    await page.locator('.sentences blockquote').first().waitFor({ state: 'visible' })
  }
  await page.done()
})

await check('a key shows the text of a document', async () => {
  const page = await open(pages.report)
  await page.locator('form[data-key] input').fill('wrong')
  await page.locator('form[data-key] button').click()
  await page.locator('form[data-key] [role="status"]:not(:empty)').waitFor()
  page.complaints.length = 0 // the browser reports the refusal
  await page.locator('form[data-key] input').fill(key)
  await page.locator('form[data-key] button').click()
  await page.locator('.text .pre').first().waitFor()
  await page.done()
})

await check('the language can be chosen and stays', async () => {
  const page = await open('/')
  same(await page.locator('html').getAttribute('lang'), 'es', 'the language')
  await Promise.all([page.waitForURL('**lang=en**'), page.locator('footer a[hreflang="en"]').click()])
  await Promise.all([page.waitForURL('**/reports/**'), page.locator('#list h3 a').first().click()])
  same(await page.locator('html').getAttribute('lang'), 'en', 'the language of a report')
  await page.done()
  const english = await open('/', { locale: 'en-GB' })
  same(await english.locator('html').getAttribute('lang'), 'en', 'the language of an English browser')
  await english.done()
})

await check('everything works without JavaScript', async () => {
  const page = await open('/', { javaScriptEnabled: false })
  expect(await page.locator('#list [data-id]').count() > 5, 'no reports')
  await page.locator('#find').fill('dividendo')
  await Promise.all([page.waitForURL('**/search?**'), page.locator('.find button').click()])
  await page.goto(base + '/')
  await page.locator('details summary.chip').click()
  await page.locator('select[name="kind"]').selectOption('company')
  await Promise.all([page.waitForURL('**kind=company**'), page.locator('.fields button').click()])
  await page.done()
})

await check('the page can be used with the keyboard alone', async () => {
  const page = await open('/')
  await page.keyboard.press('Tab')
  same(await page.evaluate(() => document.activeElement.className), 'skip', 'the first stop')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement.closest('main') !== null), 'the link does not lead to the content')
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle)
  expect(outline !== 'none', 'the focus is not visible')
  await page.done()
})

// --- every internal link

await check('no internal link is broken', async () => {
  const LIMIT = 600
  const seen = new Map(), queue = Object.values(pages).filter((p) => p !== pages.missing)
  const broken = []
  const visit = async (path, from) => {
    const answer = await fetch(base + path, { headers: { Accept: 'text/html', 'X-API-Key': key }, redirect: 'manual' })
    if (answer.status >= 400) return broken.push(`${path} (${answer.status}, on ${from})`)
    if (answer.status >= 300) return add(answer.headers.get('location'), path)
    const text = await answer.text()
    if (!(answer.headers.get('content-type') ?? '').startsWith('text/html')) return
    for (const [, , target] of text.matchAll(/ (href|src|action)="([^"]*)"/g)) add(target.replaceAll('&amp;', '&').replaceAll('&#43;', '+'), path)
    const ids = new Set([...text.matchAll(/ id="([^"]*)"/g)].map((m) => m[1]))
    for (const [, anchor] of text.matchAll(/ href="#([^"]+)"/g)) if (!ids.has(anchor)) broken.push(`#${anchor} on ${path}`)
  }
  const families = new Map() // addresses of one kind, of which some are enough
  const add = (target, from) => {
    const url = new URL(target, base + from)
    if (url.origin !== new URL(base).origin || !url.protocol.startsWith('http')) return
    const path = url.pathname + url.search
    const family = url.pathname.replace(/[^/]*\d[^/]*$/, '#') + [...url.searchParams.keys()].sort()
    if (seen.has(path) || (families.get(family) ?? 0) >= 12) return
    families.set(family, (families.get(family) ?? 0) + 1)
    seen.set(path, from)
    queue.push(path)
  }
  let visited = 0
  while (queue.length && visited < LIMIT) {
    const some = queue.splice(0, 6)
    visited += some.length
    await Promise.all(some.map((path) => visit(path, seen.get(path) ?? 'the beginning')))
  }
  console.log(`      ${visited} addresses`)
  same(broken.slice(0, 12).join('\n'), '', 'broken links')
})

// --- pictures, to be looked at

if (folder) {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [360, 768, 1440]) {
      for (const [name, path] of Object.entries(pages)) {
        const page = await open(path, { width, height: width < 500 ? 780 : 1000, colorScheme })
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) })
        page.complaints.length = 0
        await page.done()
      }
    }
  }
}

await finish()
