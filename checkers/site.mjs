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
  feed: '/', following: '/following', filtered: '/?type=OIR&without=securitisation', report: `/reports/${summarised.id}`, issuers: '/issuers', issuer: `/issuers/${withIssuer.id}`,
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

await check('the state is unknown from the second failed poll on, until one succeeds', async () => {
  const page = await open('/')
  await page.waitForResponse((r) => r.url().includes('/live'))
  const state = page.locator('.top .state'), before = await state.getAttribute('class')
  const atFailure = [] // the state when a poll begins to fail
  await page.route('**/live*', async (route) => {
    atFailure.push(await state.getAttribute('class'))
    await route.abort()
  })
  await page.locator('.top .state-unknown', { hasText: 'Sin conexión' }).waitFor()
  same(atFailure.join(), [before, before].join(), 'the states when the two polls began to fail')
  await page.unroute('**/live*')
  await page.locator('.top .state:not(.state-unknown)').waitFor()
  same(await state.getAttribute('class'), before, 'the state after a poll that succeeds')
  page.complaints.length = 0 // the browser reports what was aborted
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
  await Promise.all([page.waitForURL('**without=routine**'), page.locator('a.chip.toggle').first().click()])
  expect(page.url().includes('type=OIR'), 'the type is lost')
  expect(!(await page.locator('#list .who').allTextContents()).some((t) => /fondo de tituli/i.test(t)), 'securitisation funds are shown')
  await Promise.all([page.waitForURL('**order=important**'), page.locator('a.chip.toggle').last().click()])
  same(await page.locator('[data-live]').getAttribute('data-live'), '', 'what the list by importance polls')
  await page.locator('details summary.chip').click()
  await page.locator('select[name="kind"]').selectOption('company')
  await Promise.all([page.waitForURL('**kind=company**'), page.locator('.fields button').click()])
  expect(page.url().includes('order=important'), 'the order is lost')
  expect(!await page.locator('.fields').isVisible(), 'the panel is still open')
  await page.done()
})

await check('compact rows have one line each, and stay compact when the page is loaded again', async () => {
  for (const width of [390, 1280]) {
    const page = await open('/', { width })
    await page.locator('[data-compact]').click()
    await page.reload()
    same(await page.locator('[data-compact]').getAttribute('aria-pressed'), 'true', 'the switch')
    const faults = await page.evaluate(() => [...document.querySelectorAll('#list .row')].flatMap((row) => {
      const box = (selector) => row.querySelector(selector).getBoundingClientRect()
      const found = []
      if (box('.what').height > 32) found.push('more than one line')
      if (box('time').width === 0) found.push('no time')
      if (box('.who').right > box('h3').left) found.push('the company overlaps the title')
      const badge = box('.badge')
      if (badge.width && box('.company').right > badge.left) found.push('the company overlaps the type')
      const rest = row.querySelector('.rest')
      if (rest && rest.getBoundingClientRect().right > row.getBoundingClientRect().right + 1) found.push('the others are too wide')
      return found.map((text) => `${row.dataset.id}: ${text}`)
    }))
    same(faults.join('\n'), '', `${width} pixels`)
    const shift = await page.evaluate(() => new Promise((resolve) => {
      let sum = 0
      new PerformanceObserver((list) => { for (const e of list.getEntries()) sum += e.value }).observe({ type: 'layout-shift', buffered: true })
      setTimeout(() => resolve(sum), 500)
    }))
    expect(shift < 0.01, `${width} pixels: layout shift ${shift}`)
    await page.locator('[data-compact]').click()
    await page.reload()
    same(await page.locator('html').getAttribute('data-rows'), null, 'the rows after the second click')
    await page.done()
  }
})

await check('the offer of new reports covers neither the filters nor the day', async () => {
  for (const width of [360, 768, 1440]) {
    const page = await open('/', { width })
    await page.waitForResponse((r) => r.url().includes('/live'))
    await publish({ type: 'oir', title: 'Llegada sin tapar nada' })
    await page.locator('.live button').waitFor()
    const [filters, button, day] = await page.evaluate(() => ['.filters', '.live button', '.day h2 > :first-child']
      .map((selector) => document.querySelector(selector).getBoundingClientRect()))
    expect(button.top >= filters.bottom - 1 && button.bottom <= day.top + 1, `${width} pixels: ${filters.bottom} ${button.top} ${button.bottom} ${day.top}`)
    await page.done()
  }
})

await check('the letters of the directory are one row on a phone', async () => {
  const page = await open('/issuers', { width: 360 })
  const tops = await page.locator('.letters > *').evaluateAll((letters) => new Set(letters.map((l) => l.offsetTop)).size)
  same(tops, 1, 'rows of letters')
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

await check('a report has the beginning of its document, and the rest is for people who are signed in', async () => {
  const page = await open(pages.report)
  await page.locator('.text .pre').first().waitFor()
  same(await page.locator('input[type="password"]').count(), 0, 'fields for a key in the article')
  const rest = page.locator('.continue a')
  if (await rest.count()) { // the document is longer
    await Promise.all([page.waitForURL('**/signin?next=**'), rest.click()])
    same(new URL(page.url()).searchParams.get('next'), `/account${pages.report}`, 'where the sign-in leads')
  }
  await page.done()
})

await check('the language can be chosen and stays', async () => {
  const page = await open('/')
  same(await page.locator('html').getAttribute('lang'), 'es', 'the language')
  await Promise.all([page.waitForURL('**lang=en**'), page.locator('.switches a[hreflang="en"]').click()])
  const mark = () => page.locator('#list h3 a').first().evaluate((title) => getComputedStyle(title, '::before').content)
  same(await mark(), '"ES"', 'what an English list marks Spanish titles with')
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

await check('one key moves between rows, searches and shows what keys do, but not while a reader types', async () => {
  const page = await open('/')
  const focused = () => page.evaluate(() => document.activeElement.closest('[data-id]')?.dataset.id ?? null)
  const ids = await page.locator('#list [data-id]').evaluateAll((rows) => rows.map((row) => row.dataset.id))
  await page.keyboard.press('j')
  same(await focused(), ids[0], 'the row after j')
  await page.keyboard.press('j')
  same(await focused(), ids[1], 'the row after the second j')
  await page.keyboard.press('k')
  await page.keyboard.press('k')
  same(await focused(), ids[0], 'the row after k at the first row')
  await page.keyboard.press('/')
  await page.keyboard.type('jk?/')
  same(await page.locator('#find').inputValue(), 'jk?/', 'the text in the search box')
  expect(!await page.locator('#shortcuts').isVisible(), 'typing opened the help')
  await page.locator('#find').evaluate((box) => box.blur())
  await page.keyboard.press('?')
  await page.locator('#shortcuts').waitFor({ state: 'visible' })
  await page.keyboard.press('j')
  same(await focused(), null, 'the row while the help is open')
  await page.locator('#shortcuts input').uncheck()
  await page.keyboard.press('Escape')
  await page.reload()
  await page.keyboard.press('j')
  same(await focused(), null, 'the row after j when keys are turned off')
  await page.locator('.shortcuts-open').click()
  await page.locator('#shortcuts input').check()
  await page.locator('#shortcuts button').click()
  await page.keyboard.press('j')
  expect(await focused(), 'j has no effect after keys are turned on again')
  await page.goto(base + '/issuers')
  await page.keyboard.press('j')
  expect(await page.evaluate(() => document.activeElement.closest('table.entries tr')), 'j does not move in tables')
  await page.done()
})

await check('the rows of tables are sorted by a column, and page by page', async () => {
  for (const [locale, path] of [['es-ES', '/issuers'], ['en-GB', '/issuers'], ['es-ES', '/shorts'], ['en-GB', '/holdings']]) {
    const page = await open(path, { locale, width: 1440, bypassCSP: true })
    if (path !== '/issuers' && await page.locator('table.entries').count() === 0) { // the market has no registers
      await page.done()
      continue
    }
    const names = () => page.locator('table.entries tbody').first().locator('th').allTextContents()
    const cells = (column) => page.locator(`table.entries tbody tr td:nth-child(${column + 1})`).allTextContents()
    const before = (await names()).join('\n')
    const headings = await page.locator('table.entries thead th').evaluateAll((all) => all.map((th) => th.classList.contains('numeric')))
    const column = headings.indexOf(true), button = page.locator(`table.entries thead th:nth-child(${column + 1}) .sort`)
    const figures = async () => (await cells(column)).map((text) => text.match(/[\d.,]+/)?.[0]).filter(Boolean)
      .map((text) => Number(locale === 'es-ES' ? text.replaceAll('.', '').replace(',', '.') : text.replaceAll(',', '')))
    await button.click()
    const falling = await figures()
    expect(falling.length > 1 && falling.every((n, i) => i === 0 || falling[i - 1] >= n), `${path}: not falling: ${falling}`)
    same(await page.locator('th[aria-sort="descending"]').count(), 1, `${path}: headings of the order`)
    same(await violationsOf(page), '', path)
    const more = await page.locator('nav.pages').count() > 0
    same((await page.locator('.sorted').textContent()) !== '', more, `${path}: the page says that only its rows are sorted`)
    await button.click()
    const rising = await figures()
    expect(rising.every((n, i) => i === 0 || rising[i - 1] <= n), `${path}: not rising: ${rising}`)
    await button.click()
    same((await names()).join('\n'), before, `${path}: the order after the third click`)
    await page.done()
  }
})

await check('axe finds no fault in the help about keys', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open('/', { colorScheme, bypassCSP: true })
    await page.keyboard.press('?')
    same(await violationsOf(page), '', colorScheme)
    await page.done()
  }
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
    const text = (await answer.text()).replaceAll(/<form [^>]*method="post"[^>]*>/g, '') // their addresses take no GET
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
