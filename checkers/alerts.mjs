// Does what a visitor of the demo does: signs in by the printed link, presses a star,
// a list, an alert, the confirmation, a message, and the end of all messages.
//
//   node alerts.mjs BASE_URL LINK [--screenshots DIR]
//
// The demo publishes reports by itself. Prints a line for each check and exits with 1 when
// one failed. CHROME_PATH says where the browser is.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, faultsOf, same, start, violationsOf } from './browser.mjs'

const [base, link, option, folder] = process.argv.slice(2)
if (!link || (option && option !== '--screenshots')) {
  console.error('usage: node alerts.mjs BASE_URL LINK [--screenshots DIR]')
  process.exit(2)
}
if (folder) mkdirSync(folder, { recursive: true })

const { check, open, finish } = await start(base)
let page

// press clicks a button of a form and waits for the page after it.
async function press(button) {
  await Promise.all([page.waitForEvent('framenavigated'), button.click()])
  await page.waitForLoadState()
}

// looks takes pictures of a page and expects it to fit every width, without faults.
async function looks(name, path) {
  for (const language of ['es', 'en']) {
    await page.goto(`${base}${path}${path.includes('?') ? '&' : '?'}lang=${language}`)
    same(await faultsOf(await page.evaluate(async () => (await fetch(location.href)).text())), '', `faults of ${path}`)
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      for (const width of [320, 360, 768, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        expect(over <= 0, `${path}: ${width} pixels are ${over} too few`)
        if (folder && width > 320) await page.screenshot({ path: join(folder, `${name}-${language}-${width}-${colorScheme}.png`), fullPage: true })
        if (width === 320 || width === 1440) same(await violationsOf(page), '', `${path}, ${colorScheme}, ${width} pixels`)
      }
    }
  }
  await page.setViewportSize({ width: 360, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })
}

await check('the link of the demo signs in, once', async () => {
  page = await open(link.slice(base.length), { width: 360, height: 800, bypassCSP: true }) // on a phone
  same(new URL(page.url()).pathname, '/following', 'where the link leads')
  await page.locator('.lists').waitFor()
  same((await fetch(link)).status, 403, 'the second time')
})

await check('a star makes the first list of the account', async () => {
  await page.goto(base + '/')
  await page.locator('#list .star').first().click()
  await page.locator('#list .star[aria-pressed="true"]').first().waitFor()
  await page.waitForLoadState('networkidle').catch(() => {}) // an open page polls
  await page.goto(base + '/following')
  await page.locator('.followed li').first().waitFor()
  await looks('following', '/following')
})

await check('an alert waits for the confirmation of its channel', async () => {
  await page.goto(base + '/following')
  await page.locator('.actions a').first().click()
  await page.locator('h1').waitFor()
  await page.goto(base + '/account/alerts?type=OIR')
  await page.locator('#to').fill('ana@example.com')
  await page.locator('#rhythm').selectOption('at_once')
  await press(page.locator('#new form button'))
  await page.locator('.tag.bad, .tag', { hasText: 'sin confirmar' }).first().waitFor()
})

await check('the message in the outbox confirms it, with one button', async () => {
  await page.goto(base + '/account/outbox')
  const confirm = page.locator('.posted a[href*="/alerts/confirm"]').first()
  await confirm.waitFor()
  await page.goto(await confirm.getAttribute('href'))
  same(await page.locator('main button').count(), 1, 'buttons')
  await press(page.locator('main button'))
  await page.goto(base + '/account/alerts')
  await page.locator('.tag.good').first().waitFor()
  await looks('alerts', '/account/alerts')
})

await check('a test and a report arrive', async () => {
  await page.goto(base + '/account/alerts')
  await press(page.locator('form[action$="/test"] button').first())
  await page.locator('.success').waitFor()
  for (const until = Date.now() + 90_000; Date.now() < until;) {
    await page.goto(base + '/account/outbox')
    if (await page.locator('.posted a[href*="/reports/"]').count()) break
    await page.waitForTimeout(1000)
  }
  expect(await page.locator('.posted a[href*="/reports/"]').count() > 0, 'no report arrived')
  await looks('outbox', '/account/outbox')
})

await check('a browser subscribes after a click, and its worker shows messages', async () => {
  await page.context().grantPermissions(['notifications'], { origin: base })
  await page.addInitScript(() => { // the service of the maker of a browser is not there
    PushManager.prototype.subscribe = async (options) => {
      const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])
      const text = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
      sessionStorage.setItem('subscribed', JSON.stringify({ visible: options.userVisibleOnly, key: options.applicationServerKey.length }))
      const keys = { p256dh: text(await crypto.subtle.exportKey('raw', pair.publicKey)), auth: text(crypto.getRandomValues(new Uint8Array(16))) }
      return { toJSON: () => ({ endpoint: 'https://push.example.com/send/1', expirationTime: null, keys }) }
    }
  })
  const session = await page.context().newCDPSession(page)
  const versions = []
  session.on('ServiceWorker.workerVersionUpdated', (event) => versions.push(...event.versions))
  await session.send('ServiceWorker.enable')
  await page.goto(base + '/account/alerts')
  same(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0, 'workers before the click')
  await press(page.locator('form[data-push] button'))
  await page.locator('.card', { hasText: 'push.example.com' }).locator('.tag.good').waitFor()
  same(await page.evaluate(() => sessionStorage.getItem('subscribed')), JSON.stringify({ visible: true, key: 87 }), 'what the browser was asked')
  const registrationId = versions.find((v) => v.scriptURL.endsWith('/account/push-worker.js')).registrationId
  await session.send('ServiceWorker.deliverPushMessage', { origin: base, registrationId, data: JSON.stringify({ title: 'ACEROS', body: 'Dividendo', tag: 't', lang: 'es', url: base + '/following' }) })
  const shown = await page.evaluate(async () => {
    for (let n = 0; n < 100; n++) {
      const notes = await (await navigator.serviceWorker.getRegistration('/account/')).getNotifications()
      if (notes.length) return notes.map((n) => `${n.title}: ${n.body} ${n.lang} ${n.data.url}`).join()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return ''
  })
  same(shown, `ACEROS: Dividendo es ${base}/following`, 'the notification')
})

await check('one link ends all messages', async () => {
  await page.goto(base + '/account/outbox')
  const end = await page.locator('.posted a[href*="/alerts/end"]').first().getAttribute('href')
  await page.goto(end)
  same(await page.locator('main button').count(), 1, 'buttons')
  await press(page.locator('main button'))
  await page.goto(base + '/account/alerts')
  await page.locator('.tag.bad', { hasText: 'terminado' }).first().waitFor()
  await page.done()
})

await finish()
