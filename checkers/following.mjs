// Follows companies as people do: stars, the page of the list, its order, its file, and
// what happens without an account.
//
//   node following.mjs BASE_URL KEY SIMULATOR_URL [--screenshots DIR]
//
// The reports come from the simulator at SIMULATOR_URL. Prints a line for each check and
// exits with 1 when one failed. CHROME_PATH says where the browser is.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, faultsOf, same, start, violationsOf } from './browser.mjs'

const [base, key, simulator, option, folder] = process.argv.slice(2)
if (!simulator || (option && option !== '--screenshots')) {
  console.error('usage: node following.mjs BASE_URL KEY SIMULATOR_URL [--screenshots DIR]')
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

const listed = (await json('/api/v1/issuers?kind=company&limit=50')).data.filter((i) => i.ticker)
const stored = (page) => page.evaluate(() => JSON.parse(localStorage.getItem('following') ?? '[]'))
const give = (page, ids) => page.evaluate((list) => localStorage.setItem('following', JSON.stringify(list)), ids)
const issuerOf = (issuer) => `/issuers/${issuer.id}`

await check('a star follows an issuer on every page, with the keyboard too', async () => {
  const page = await open(issuerOf(listed[0]))
  const star = page.locator('header .star')
  same(await star.getAttribute('aria-pressed'), 'false', 'before')
  await star.click()
  same(await star.getAttribute('aria-pressed'), 'true', 'after a click')
  same((await stored(page)).join(), listed[0].id, 'the list')
  await star.focus()
  await page.keyboard.press('Space')
  same((await stored(page)).join(), '', 'the list after the space bar')
  await page.goto(base + '/')
  const first = page.locator('#list .star').first()
  const id = await first.getAttribute('data-issuer')
  await first.focus()
  await page.keyboard.press('Enter')
  same((await stored(page)).join(), id, 'the list after Enter')
  const stars = page.locator(`.star[data-issuer="${id}"]`)
  for (let n = 0; n < await stars.count(); n++) same(await stars.nth(n).getAttribute('aria-pressed'), 'true', `star ${n} of the same issuer`)
  await page.goto(base + await page.locator('#list h3 a').first().getAttribute('href'))
  same(await page.locator('article header .star').getAttribute('aria-pressed'), 'true', 'the star of the report')
  await page.goto(base + '/issuers/' + id)
  same(await page.locator('header .star').getAttribute('aria-pressed'), 'true', 'the star of the issuer')
  await page.done()
})

await check('nothing is sent but the filter, and nothing moves', async () => {
  const page = await open('/')
  const asked = []
  page.on('request', (request) => asked.push(request.method() + ' ' + new URL(request.url()).pathname))
  await page.locator('#list .star').first().click()
  await page.waitForTimeout(300)
  same(asked.filter((a) => !/^GET \/(live|assets\/)/.test(a)).join(), '', 'requests after a star')
  const shift = await page.evaluate(() => new Promise((resolve) => {
    let shift = 0
    new PerformanceObserver((list) => { for (const e of list.getEntries()) shift += e.value }).observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => resolve(shift), 500)
  }))
  expect(shift < 0.001, `layout shift ${shift}`)
  same((await page.context().cookies()).length, 0, 'cookies')
  await page.done()
})

await check('the list is a feed, and a new report of it arrives', async () => {
  const page = await open('/following')
  await page.locator('.empty a.button').waitFor()
  await give(page, [listed[0].id, listed[1].id])
  await page.goto(base + '/following')
  await page.locator('.followed li').nth(1).waitFor()
  same(await page.locator('.followed li').count(), 2, 'issuers')
  const wanted = new Set([listed[0].id, listed[1].id])
  for (const star of await page.locator('#list .star').all()) {
    expect(wanted.has(await star.getAttribute('data-issuer')), 'a report of another issuer')
    same(await star.getAttribute('aria-pressed'), 'true', 'a star in the list')
  }
  await page.waitForResponse((r) => r.url().includes('/live'))
  await publish({ type: 'oir', title: 'Para quien sigue', nif: listed[1].nif ?? listed[1].id })
  await page.locator('.live button').waitFor()
  await page.locator('.live button').click()
  await page.locator('#list h3', { hasText: 'Para quien sigue' }).first().waitFor()
  await page.done()
})

await check('the list is ordered and shortened', async () => {
  const page = await open('/following')
  await give(page, listed.slice(0, 3).map((i) => i.id))
  await page.goto(base + '/following')
  const rows = page.locator('.followed li')
  await rows.nth(2).waitFor()
  await rows.nth(2).locator('[data-move="-1"]').click()
  same((await stored(page)).join(), [0, 2, 1].map((n) => listed[n].id).join(), 'after moving up')
  await rows.nth(0).locator('[data-move="1"]').click()
  same((await stored(page)).join(), [2, 0, 1].map((n) => listed[n].id).join(), 'after moving down')
  await rows.nth(1).locator('[data-remove]').click()
  same((await stored(page)).join(), [2, 1].map((n) => listed[n].id).join(), 'after removing')
  await rows.nth(1).waitFor()
  while (await rows.count()) await rows.first().locator('[data-remove]').click()
  await page.locator('.empty a.button').waitFor()
  await page.done()
})

await check('the list is a file and comes from one', async () => {
  const page = await open('/following')
  await page.locator('.empty').waitFor()
  const csv = '\uFEFFticker;name\r\n' + listed[0].ticker + ';x\r\n"' + listed[1].name + '";y\r\n' + (listed[2].isins?.[0] ?? listed[2].id) + '\r\nNADIE SA\r\n=1+1\r\n' + listed[0].id + '\r\n'
  await page.locator('#file').setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
  await page.locator('.followed li').nth(2).waitFor()
  same((await stored(page)).join(), listed.slice(0, 3).map((i) => i.id).join(), 'the list')
  const said = await page.locator('#report').textContent()
  expect(/3/.test(said) && said.includes('NADIE SA') && said.includes('=1+1'), `the page says ${said}`)
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('[data-export]').click()])
  same(download.suggestedFilename(), 'following.csv', 'the name of the file')
  const lines = readFileSync(await download.path(), 'utf8').trim().split('\r\n')
  same(lines[0], 'issuer,ticker,name', 'the heading')
  same(lines.length, 4, 'lines')
  expect(lines[1].startsWith(listed[0].id + ',' + listed[0].ticker + ','), `the first line is ${lines[1]}`)
  await page.done()
})

await check('more than fifty lead to an account', async () => {
  const page = await open('/')
  await give(page, Array.from({ length: 50 }, (_, n) => `none-${n}`))
  await Promise.all([page.waitForURL('**/following#full'), page.locator('#list .star').first().click()])
  await page.locator('#full').waitFor()
  same((await stored(page)).length, 50, 'the length of the list')
  await page.locator('.followed li').nth(49).waitFor()
  await page.done()
})

await check('without JavaScript the page says what it needs', async () => {
  const page = await open('/following', { javaScriptEnabled: false })
  await page.locator('noscript p').waitFor()
  await page.goto(base + '/')
  expect(!(await page.locator('#list .star').first().isVisible()), 'a star without a script')
  await page.done()
})

await check('a browser that keeps nothing still shows the pages', async () => {
  const page = await open('/status')
  await page.addInitScript(() => Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } }))
  await page.goto(base + '/following')
  await page.locator('.empty').waitFor()
  await page.done()
})

// signIn signs in with a key on a page.
async function signIn(page, next = '/following') {
  await page.goto(`${base}/signin?next=${encodeURIComponent(next)}`)
  await page.locator('#key').fill(key)
  await Promise.all([page.waitForURL((url) => url.pathname === next), page.locator('form.stack button').click()])
}

await check('the list moves into the account at sign-in, once', async () => {
  const page = await open('/following')
  await give(page, [listed[0].id, listed[1].id])
  await signIn(page)
  await page.locator('.lists [data-list][aria-current]').waitFor()
  await page.locator('.followed li').nth(1).waitFor()
  same((await stored(page)).join(), '', 'the list in the browser')
  same(await page.locator('.followed [data-remove]').count(), 0, 'buttons that change the list of the browser')
  await page.goto(base + issuerOf(listed[0]))
  await page.locator('header .star[aria-pressed="true"]').waitFor()
  const press = () => Promise.all([
    page.waitForResponse((r) => r.request().method() === 'POST' && r.url().includes('/account/following')),
    page.locator('header .star').click(),
  ])
  await press()
  await page.locator('header .star[aria-pressed="false"]').waitFor()
  await Promise.all([page.waitForResponse((r) => r.url().includes('/account/following')), page.reload()])
  same(await page.locator('header .star').getAttribute('aria-pressed'), 'false', 'the star after a reload')
  await press()
  const lists = (await json('/api/v1/account/watchlists')).data
  same(lists.length, 1, 'lists of the account')
  same(lists[0].issuers.map((i) => i.id).join(), `${listed[1].id},${listed[0].id}`, 'the list of the account')
  await page.goto(base + '/following')
  await page.locator('.followed li').nth(1).waitFor()
  const wanted = new Set([listed[0].id, listed[1].id])
  for (const star of await page.locator('#list .star').all()) expect(wanted.has(await star.getAttribute('data-issuer')), 'a report of another issuer')
  await page.waitForResponse((r) => r.url().includes('/account/following/live'))
  await publish({ type: 'oir', title: 'Para la cuenta', nif: listed[1].nif ?? listed[1].id })
  await page.locator('.live button').click()
  await page.locator('#list h3', { hasText: 'Para la cuenta' }).first().waitFor()

  // Signed out, nothing of the account is left in the browser.
  await page.goto(base + '/account')
  await page.locator('.who-is button').click()
  await page.waitForURL('**/signin**')
  await page.goto(base + '/following')
  await page.locator('.empty').waitFor()
  same(await page.evaluate(() => Object.keys(localStorage).join()), '', 'what the browser keeps')
  await page.done()
})

await check('a list is made, filled, shared and saved by its pages', async () => {
  const page = await open('/')
  await signIn(page, '/account/watchlists')
  await page.locator('summary.button').click()
  await page.locator('#name').fill('Energía')
  await page.locator('.make button').click()
  await page.locator('h1', { hasText: 'Energía' }).waitFor()
  const address = new URL(page.url()).pathname
  await page.locator('#file').setInputFiles({ name: 'x.csv', mimeType: 'text/csv', buffer: Buffer.from(`ticker\n${listed[2].ticker}\nNADIE\n`) })
  await page.locator('#lines').evaluate((area) => new Promise((resolve) => { const wait = () => area.value ? resolve() : setTimeout(wait, 20); wait() }))
  await page.locator('#import button').click()
  await page.locator('.notice code', { hasText: 'NADIE' }).waitFor()
  await page.locator('.entries-of a', { hasText: listed[2].name }).waitFor()
  await page.goto(base + '/?type=IP')
  await Promise.all([page.waitForURL('**/account/watchlists/save**'), page.locator('.active a[rel="nofollow"]').click()])
  await page.locator('#list').selectOption({ label: 'Energía' })
  await page.locator('form.card button').click()
  await page.waitForURL('**' + address + '?**')
  await page.locator('#share form button').click()
  const shared = await page.locator('#shared').textContent()
  if (folder) for (const width of [360, 1440]) {
    await page.setViewportSize({ width, height: 1000 })
    await page.screenshot({ path: join(folder, `list-${width}.png`), fullPage: true })
  }
  const other = await open(shared.slice(base.length))
  await other.locator('h1', { hasText: 'Energía' }).waitFor()
  await other.locator('.followed', { hasText: listed[2].name }).waitFor()
  same(await other.locator('.tools').count(), 0, 'tools in a shared list')
  same((await other.context().cookies()).length, 0, 'cookies')
  if (folder) await other.screenshot({ path: join(folder, 'shared-1280.png') })
  await other.done()
  await page.locator('#share form button').click()
  await page.locator('#share form button:not(.danger)').waitFor()
  const ended = await fetch(shared, { headers: { Accept: 'text/html' } })
  same(ended.status, 404, 'a link that was ended')
  for (const path of ['/account/watchlists', address, '/account/watchlists/save?type=IP']) {
    const text = await page.evaluate(async (to) => (await fetch(to)).text(), path)
    same(await faultsOf(text), '', `faults of ${path}`)
  }
  await page.done()
  for (const colorScheme of ['light', 'dark']) {
    const page = await open('/', { colorScheme, bypassCSP: true })
    for (const path of ['/account/watchlists', address, '/following']) {
      if (path === '/account/watchlists') await signIn(page, path)
      else await page.goto(base + path)
      await page.waitForLoadState('networkidle')
      for (const width of [320, 360, 768, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        expect(over <= 0, `${path}: ${width} pixels are ${over} too few`)
        if (folder && width > 320) await page.screenshot({ path: join(folder, `${path.split('/')[path.includes('wl_') ? 2 : path.split('/').length - 1]}${path.includes('wl_') ? '-one' : ''}-signed-${width}-${colorScheme}.png`) })
        if (width === 320 || width === 1440) same(await violationsOf(page), '', `${path}, ${colorScheme}, ${width} pixels`)
      }
    }
    await page.done()
  }
})

for (const language of ['es', 'en']) {
  await check(`the page of the list is valid in ${language}, fits every width in both themes, and axe finds no fault`, async () => {
    const ids = [listed[0].id, listed[1].id, 'gone-1']
    for (const path of ['/following', `/following/list?issuer=${ids}`]) {
      const answer = await fetch(`${base}${path}${path.includes('?') ? '&' : '?'}lang=${language}`, { headers: { Accept: 'text/html' } })
      const text = await answer.text()
      same(await faultsOf(path === '/following' ? text : `<!DOCTYPE html>\n<html lang="${language}">\n<head><title>x</title></head>\n<body>\n<main>${text}</main>\n</body>\n</html>\n`), '', `faults of ${path}`)
    }
    for (const colorScheme of ['light', 'dark']) {
      for (const list of [[], ids]) {
        const page = await open(`/following?lang=${language}`, { colorScheme, bypassCSP: true })
        await give(page, list)
        await page.reload()
        await page.locator(list.length ? '.followed' : '.empty').first().waitFor()
        for (const width of [320, 360, 768, 1440]) {
          await page.setViewportSize({ width, height: 900 })
          const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
          expect(over <= 0, `${width} pixels are ${over} too few`)
          if (folder && width > 320) await page.screenshot({ path: join(folder, `following-${list.length}-${language}-${width}-${colorScheme}.png`) })
          if (width === 320 || width === 1440) same(await violationsOf(page), '', `${colorScheme}, ${width} pixels`)
        }
        await page.done()
      }
    }
  })
}

await finish()
