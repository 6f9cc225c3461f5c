// Uses the pages of an account as people do, and attacks them.
//
//   node console.mjs BASE_URL KEY OPERATOR_KEY SIMULATOR_URL [--screenshots DIR]
//
// The reports come from the simulator at SIMULATOR_URL, which publishes one when it
// is told to. Prints a line for each check and exits with 1 when one failed.
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { expect, faultsOf, same, start, violationsOf } from './browser.mjs'

const [base, key, operator, simulator, option, folder] = process.argv.slice(2)
if (!simulator || (option && option !== '--screenshots')) {
  console.error('usage: node console.mjs BASE_URL KEY OPERATOR_KEY SIMULATOR_URL [--screenshots DIR]')
  process.exit(2)
}
if (folder) mkdirSync(folder, { recursive: true })

const { check, open, finish } = await start(base)

// signIn opens a page with a session that begins with a key.
async function signIn(path, with_ = key, options) {
  const page = await open(`/signin?next=${encodeURIComponent(path)}`, options)
  await page.locator('#key').fill(with_)
  await Promise.all([page.waitForURL((url) => url.pathname + url.search === path), page.locator('form.stack button').click()])
  return page
}

// press clicks a button of a form and waits for the page after it.
async function press(page, button) {
  await Promise.all([page.waitForEvent('framenavigated'), button.click()])
  await page.waitForLoadState()
}

const api = (path, credential, init = {}) => fetch(base + path, { ...init, headers: { 'X-API-Key': credential, 'Content-Type': 'application/json', ...init.headers } })
const text = (page, selector) => page.locator(selector).first().textContent()
const HTML = '<img src=x onerror=alert(1)>"&'

// A server of others: the receiver of webhooks, the address of an application,
// and a site that attacks.
const received = []
const other = http.createServer((request, response) => {
  let body = ''
  request.on('data', (piece) => { body += piece })
  request.on('end', () => {
    received.push({ method: request.method, url: request.url, body, headers: request.headers })
    if (request.url === '/attack') {
      response.setHeader('Content-Type', 'text/html')
      return response.end(`<form method="post" action="${base}/account/keys"><input name="name" value="stolen"><input name="scopes" value="read:reports"></form>
        <iframe src="${base}/signin"></iframe><script>addEventListener('message', () => document.forms[0].submit())</script>`)
    }
    if (request.url.startsWith('/sandbox?')) { // a link whose window inherits the sandbox, and so runs no script
      const link = `<a target="_blank" href="${base}/oauth/authorize${new URL(request.url, base).search.replaceAll('&', '&amp;')}">Play</a>`
      response.setHeader('Content-Type', 'text/html')
      return response.end(`<iframe sandbox="allow-popups allow-forms allow-same-origin" srcdoc="${link.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`)
    }
    response.statusCode = request.method === 'POST' ? 204 : 200
    response.end(request.method === 'POST' ? undefined : 'Done.')
  })
})
await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve))
const elsewhere = `http://127.0.0.1:${other.address().port}`

// --- what people do

await check('a wrong key is refused, and the page does not repeat it', async () => {
  const page = await open('/signin')
  await page.locator('#key').fill('pregon_live_wrong')
  await press(page, page.locator('form.stack button'))
  await page.locator('#key-wrong').waitFor()
  expect(!(await page.content()).includes('pregon_live_wrong'), 'the key is in the page')
  same(await page.locator('#key').getAttribute('type'), 'password', 'the field of the key')
  page.complaints.length = 0 // the browser reports the refusal
  await page.done()
})

let made // the text of a key
await check('a key is created by keyboard, shown once, works, and its name is text', async () => {
  const page = await signIn('/account/keys')
  expect(!page.url().includes(key), 'the key is in the address')
  await page.locator('summary.button').focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.type(HTML)
  await Promise.all([page.waitForEvent('framenavigated'), page.keyboard.press('Enter')])
  await page.locator('#secret').waitFor()
  made = (await text(page, '#secret')).trim()
  same((await api('/api/v1/account', made)).status, 200, 'the status with the new key')
  expect((await page.locator('.lead').textContent()).includes(HTML), 'the name is not shown as it is')
  await page.goto(base + '/account/keys')
  expect(!(await page.content()).includes(made), 'the key is shown again')
  same(await page.locator('.list th a', { hasText: HTML }).count(), 1, 'keys with the name')
  same(await page.locator('main img').count(), 0, 'images that a name made')
  await page.done()
})

await check('what the API refuses is said at the form, which keeps what was entered', async () => {
  const page = await signIn('/account/keys')
  await page.locator('summary.button').click()
  await page.locator('#name').fill('Nocturna')
  await page.locator('#networks').fill('the moon')
  await page.locator('#expires_at').fill('2020-01-01')
  await press(page, page.locator('.make button'))
  await page.locator('[role="alert"]').waitFor()
  same(await page.locator('#name').inputValue(), 'Nocturna', 'the name')
  same(await page.locator('#networks').inputValue(), 'the moon', 'the networks')
  page.complaints.length = 0 // the browser reports the refusal
  await page.done()
})

await check('a key is changed, rotated and revoked', async () => {
  const page = await signIn('/account/keys')
  await page.locator('.list th a', { hasText: HTML }).click()
  await page.locator('#name').fill('Nocturna')
  await page.locator('#networks').fill('127.0.0.0/8, ::1/128')
  await page.locator('#expires_at').fill('2099-12-31')
  await press(page, page.locator('.card button').first())
  await page.locator('[role="status"]').waitFor()
  same(await page.locator('h1').textContent(), 'Nocturna', 'the name')
  same(await page.locator('#expires_at').inputValue(), '2099-12-31', 'the last day')
  const address = page.url().replace(/\?.*/, '')
  await page.locator('#overlap').selectOption('0')
  await press(page, page.locator('form[action*="/rotate"] button'))
  const rotated = (await text(page, '#secret')).trim()
  same((await api('/api/v1/account', rotated)).status, 200, 'the status with the rotated key')
  same((await api('/api/v1/account', made)).status, 401, 'the status with the key before')
  await page.goto(address)
  await page.locator('.sure summary').click()
  await press(page, page.locator('.sure button'))
  same((await api('/api/v1/account', rotated)).status, 401, 'the status with the revoked key')
  expect((await text(page, '.list tr.over')).includes('Nocturna'), 'the list does not show that it is revoked')
  await page.done()
})

const issuer = (await (await api('/api/v1/issuers?kind=company&limit=50', key)).json()).data.find((i) => i.ticker)
const publish = async (body) => {
  const answer = await fetch(`${simulator}/_sim/publish`, { method: 'POST', body: JSON.stringify(body) })
  expect(answer.ok, `the simulator answered ${answer.status}`)
  return answer.json()
}

let hook // the address of its page
await check('a webhook is made while its form shows what it would have sent', async () => {
  const page = await signIn('/account/webhooks/new')
  const total = () => text(page, '#preview .total')
  const everything = await total()
  await page.locator('#issuer').fill(issuer.ticker)
  const option = page.locator(`.completes [data-url$="/issuers/${issuer.id}"]`)
  await option.waitFor()
  while (await option.getAttribute('aria-selected') !== 'true') await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  same(await page.locator('#issuer').inputValue(), issuer.id, 'the issuer')
  await page.waitForFunction((before) => document.querySelector('#preview .total')?.textContent !== before, everything)
  await page.locator('#issuer').fill('no such issuer')
  await page.locator('#preview .wrong').first().waitFor()
  await page.locator('#issuer').fill('')
  await page.locator('#type').selectOption('OIR')
  await page.locator('#preview .total').waitFor()
  await page.locator('#description').fill(HTML)
  await page.locator('#url').fill(`${elsewhere}/hook`)
  await press(page, page.locator('.builder button.main'))
  expect((await text(page, '#secret')).startsWith('whsec_'), 'no secret is shown')
  await page.locator('.once .button').click()
  await page.locator('#deliveries').waitFor()
  hook = page.url()
  same(await page.locator('h1').textContent(), HTML, 'the description')
  await page.done()
})

await check('a webhook is tested, delivers, delivers again, gets a new secret, and is deleted', async () => {
  const page = await signIn(new URL(hook).pathname)
  await press(page, page.locator('.actions button.main'))
  expect((await text(page, '[role="status"]')).includes('HTTP 204'), 'the test has no result')
  same(received.filter((r) => r.url === '/hook').length, 1, 'tests that arrived')
  await publish({ type: 'oir', title: 'Aviso en vivo' })
  await expectRow(page, 'HTTP 204')
  const before = received.filter((r) => r.url === '/hook').length
  await press(page, page.locator('.deliveries .act button').first())
  await page.locator('[role="status"]').waitFor()
  for (let i = 0; i < 200 && received.filter((r) => r.url === '/hook').length === before; i++) await new Promise((resolve) => setTimeout(resolve, 50))
  expect(received.filter((r) => r.url === '/hook').length > before, 'it was not delivered again')
  await page.locator('.sure summary').first().click()
  await press(page, page.locator('form[action*="/rotate"] button'))
  expect((await text(page, '#secret')).startsWith('whsec_'), 'no secret is shown')
  await page.goto(hook)
  await press(page, page.locator('button[name="enabled"]'))
  await page.locator('.tag.bad').first().waitFor()
  await page.locator('form[action*="/delete"]').evaluate((form) => { form.closest('details').open = true })
  await press(page, page.locator('form[action*="/delete"] button'))
  same(await page.locator('.list').count(), 0, 'webhooks')
  await page.done()
})

async function expectRow(page, what) {
  for (let i = 0; i < 100; i++) {
    await page.goto(hook)
    const rows = await page.locator('.deliveries tbody tr').allTextContents()
    if (rows.some((row) => row.includes(what))) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`no delivery has ${what}`)
}

// --- applications

const redirect = `${elsewhere}/callback`
const client = await (await fetch(`${base}/oauth/register`, {
  method: 'POST', headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ client_name: HTML, redirect_uris: [redirect], token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] }),
})).json()
const verifier = randomBytes(32).toString('base64url')
const ask = (state) => '/oauth/authorize?' + new URLSearchParams({
  client_id: client.client_id, redirect_uri: redirect, response_type: 'code', state, scope: 'read:reports', resource: base,
  code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256',
})
const token = async (values) => (await fetch(`${base}/api/auth/token`, { method: 'POST', body: new URLSearchParams({ client_id: client.client_id, ...values }) })).json()

await check('an application gets access by a click, and loses it', async () => {
  const page = await open(ask('one')) // leads to the page for signing in
  await page.locator('#key').fill(key)
  await press(page, page.locator('form.stack button'))
  const shown = await text(page, 'main')
  for (const part of [HTML, '127.0.0.1', 'Se ha registrado a sí misma']) expect(shown.includes(part), `the page lacks ${part}: ${shown}`)
  same(await page.locator('main img').count(), 0, 'images that a name made')
  await Promise.all([page.waitForURL(`${redirect}**`), page.locator('button[value="allow"]').click()])
  const answer = new URL(page.url()).searchParams
  same(answer.get('state'), 'one', 'the state')
  const granted = await token({ grant_type: 'authorization_code', code: answer.get('code'), redirect_uri: redirect, code_verifier: verifier })
  expect(granted.refresh_token, `no token: ${JSON.stringify(granted)}`)
  same((await fetch(`${base}/api/v1/reports`, { headers: { Authorization: `Bearer ${granted.access_token}` } })).status, 200, 'the status with the token')
  await page.goto(base + '/account/apps')
  expect((await text(page, '.list tbody tr')).includes(HTML), 'the application is not listed')
  await page.locator('.sure summary').click()
  await press(page, page.locator('.sure button'))
  same(await page.locator('.list').count(), 0, 'applications')
  const again = await token({ grant_type: 'refresh_token', refresh_token: granted.refresh_token })
  same(again.error, 'invalid_grant', 'the refresh token after that')
  page.complaints = page.complaints.filter((c) => !c.includes(elsewhere))
  await page.done()
})

await check('an application is told that it was denied', async () => {
  const page = await signIn(ask('two'))
  await Promise.all([page.waitForURL(`${redirect}**`), page.locator('button[value="deny"]').click()])
  same(new URL(page.url()).searchParams.get('error'), 'access_denied', 'the error')
  page.complaints = page.complaints.filter((c) => !c.includes(elsewhere))
  await page.done()
})

await check('another person can sign in to decide', async () => {
  const page = await signIn(ask('three'))
  await press(page, page.locator('.plainly'))
  same(new URL(page.url()).pathname, '/signin', 'the page')
  expect(new URL(page.url()).searchParams.get('next').includes('state=three'), 'the request is lost')
  await page.done()
})

await check('clicks within a second of the page, or of its return to the front, give no access', async () => {
  const page = await signIn('/account')
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 60_000) // time passes only as told
  await page.goto(base + ask('four'))
  const sent = []
  page.on('request', (request) => { if (request.method() === 'POST') sent.push(request.url()) })
  const allow = page.locator('button[value="allow"]')
  await allow.waitFor()
  const { x, y, width, height } = await allow.boundingBox()
  const doubleClick = async (when) => {
    await page.mouse.dblclick(x + width / 2, y + height / 2)
    same(await allow.isEnabled(), false, `the button ${when}`)
    same(sent.join(), '', `forms that were sent ${when}`)
    same(new URL(page.url()).pathname, '/oauth/authorize', `the page ${when}`)
  }
  const turn = (event) => page.evaluate((name) => dispatchEvent(new Event(name)), event)
  await doubleClick('at once')
  await page.clock.runFor(999)
  await doubleClick('after 999 ms')
  await page.clock.runFor(1)
  same(await allow.isEnabled(), true, 'the button after a second')
  await turn('blur')
  await doubleClick('without the focus')
  await page.clock.runFor(5000)
  await doubleClick('without the focus for long')
  await turn('focus')
  await page.clock.runFor(999)
  await doubleClick('999 ms after the focus came back')
  await page.clock.runFor(1)
  same(await allow.isEnabled(), true, 'the button a second after the focus came back')
  await page.done()
})

await check('without JavaScript access needs a second page', async () => {
  const page = await signIn(ask('five'), key, { javaScriptEnabled: false })
  same(await page.locator('button[value="allow"]').isVisible(), false, 'the button on the first page')
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 1600 })
    await page.goto(base + ask('five'))
    const before = await page.locator('button[value="review"]').boundingBox()
    await press(page, page.locator('button[value="review"]'))
    const after = await page.locator('button[value="allow"]').boundingBox()
    const beside = after.x + after.width <= before.x || before.x + before.width <= after.x
    expect(beside, `${width} pixels: the button is where that of the first page was: ${JSON.stringify([before, after])}`)
  }
  expect((await text(page, 'main')).includes('Confirme que quiere dar acceso'), 'the second page does not ask')
  same(await faultsOf(await page.content()), '', 'faults of the second page')
  // If it is pressed too soon the page is shown again, and its second begins again.
  while (!page.url().startsWith(redirect)) {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await press(page, page.locator('button[value="allow"]'))
  }
  expect(new URL(page.url()).searchParams.get('code'), 'no code')
  page.complaints = page.complaints.filter((c) => !c.includes(elsewhere))
  await page.done()
})

// --- attacks

await check('a site that turns the script off gets no access by two clicks', async () => {
  const page = await signIn('/account')
  await page.goto(`${elsewhere}/sandbox${ask('six').slice('/oauth/authorize'.length)}`)
  const [popup] = await Promise.all([page.context().waitForEvent('page'), page.frameLocator('iframe').locator('a').click()])
  const first = popup.locator('button[value="review"]')
  await first.waitFor() // the window has the cookie, and no script
  const refused = popup.waitForEvent('requestfailed', (request) => request.method() === 'POST').then((request) => request.failure().errorText)
  const shown = popup.locator('button[value="allow"]').waitFor().then(() => 'it is shown')
  await first.click()
  const outcome = await Promise.race([refused, shown])
  expect(outcome.includes('BLOCKED'), `the second page: ${outcome}`)
  page.complaints.length = 0 // of the page of the other site
  await page.done()
})

await check('forms of other sites and forms without their token have no effect', async () => {
  const page = await signIn('/account/keys')
  const count = async () => (await (await api('/api/v1/account/keys', key)).json()).keys.length
  const before = await count()
  const form = { name: 'stolen', scopes: 'read:reports' }
  const formToken = await page.locator('input[name="form_token"]').first().inputValue()
  const post = (form, headers) => page.request.post(`${base}/account/keys`, { form, headers: { Accept: 'text/html', ...headers }, maxRedirects: 0 })
  same((await post({ ...form, form_token: formToken }, { Origin: elsewhere })).status(), 403, 'with the origin of another site')
  same((await post({ ...form, form_token: formToken }, { Origin: 'null' })).status(), 403, 'with an opaque origin')
  same((await post({ ...form, form_token: formToken }, {})).status(), 403, 'without an origin')
  same((await post(form, { Origin: base })).status(), 403, 'without the token')
  same((await post({ ...form, form_token: formToken.slice(1) }, { Origin: base })).status(), 403, 'with another token')
  await page.goto(`${elsewhere}/attack`)
  await Promise.all([page.waitForURL(`${base}/**`), page.evaluate(() => postMessage('go'))])
  expect(!(await page.content()).includes('id="secret"'), 'another site made a key')
  same(await count(), before, 'keys')
  page.complaints.length = 0
  await page.done()
})

await check('no other site can put the pages into a frame', async () => {
  const page = await open('/signin')
  await page.goto(`${elsewhere}/attack`)
  expect(!page.frames().slice(1).some((frame) => frame.url().startsWith(base)), `shown in a frame: ${page.frames().map((f) => f.url())}`)
  page.complaints.length = 0 // the browser reports the refusal
  await page.done()
})

await check('pages are not stored: going back after signing out shows nothing', async () => {
  const page = await signIn('/account/keys')
  const id = await text(page, '.list th code')
  await page.goto(base + '/account')
  await press(page, page.locator('.who-is button'))
  same(new URL(page.url()).pathname, '/signin', 'the page after signing out')
  await page.goBack()
  await page.waitForURL('**/signin**')
  expect(!(await page.content()).includes(id), 'the page is still there')
  await page.done()
})

await check('signing out everywhere ends the other browser too', async () => {
  const [one, two] = [await signIn('/account'), await signIn('/account')]
  expect(await one.locator('#sessions tbody tr').count() >= 2, 'the sessions are not listed')
  await press(one, one.locator('button[name="everywhere"]'))
  await two.goto(base + '/account/keys')
  same(new URL(two.url()).pathname, '/signin', 'the page of the other browser')
  await one.done()
  await two.done()
})

// --- every page

await api('/api/v1/webhooks', operator, { method: 'POST', body: JSON.stringify({ url: `${elsewhere}/hook`, description: 'Avisos', filter: { type: 'OIR', without: 'securitisation' } }) })
await api('/api/v1/account/keys', operator, { method: 'POST', body: JSON.stringify({ name: 'Descarga nocturna', scopes: ['read:reports'], networks: ['192.0.2.0/24', '2001:db8::/48'] }) })
const first = async (path, name) => (await (await api(path, operator)).json())[name][0].id
const pages = {
  account: '/account', keys: '/account/keys', key: `/account/keys/${await first('/api/v1/account/keys', 'keys')}`, webhooks: '/account/webhooks', builder: '/account/webhooks/new',
  webhook: `/account/webhooks/${await first('/api/v1/webhooks', 'data')}`, edit: `/account/webhooks/${await first('/api/v1/webhooks', 'data')}/edit`,
  apps: '/account/apps', owners: '/account/owners', consent: ask('four'), refused: '/oauth/authorize?client_id=nobody', missing: '/account/keys/nothing',
}

await check('the markup of every page is valid in both languages, and its headers keep it private', async () => {
  const page = await signIn('/account', operator)
  const out = await open('/signin')
  for (const [name, path] of Object.entries({ ...pages, signin: '/signin' })) {
    for (const language of ['es', 'en']) {
      const answer = await (name === 'signin' ? out : page).request.get(base + path, { headers: { Accept: 'text/html', 'Accept-Language': language } })
      same(await faultsOf(await answer.text()), '', `${name} in ${language}`)
      const headers = answer.headers()
      same(headers['cache-control'], 'private, no-store', `Cache-Control of ${name}`)
      expect(headers['content-security-policy'].includes("frame-ancestors 'none'") && headers['x-frame-options'] === 'DENY', `${name} can be framed`)
    }
  }
  await page.done()
  await out.done()
})

await check('every page fits in both themes, and axe finds no fault', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await signIn('/account', operator, { colorScheme, bypassCSP: true }) // axe needs it
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(base + path)
      for (const width of [320, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        expect(over <= 0, `${name}: ${width} pixels are ${over} too few`)
        if ((width === 320) === (colorScheme === 'light')) same(await violationsOf(page), '', `${name}, ${colorScheme}, ${width} pixels`)
        if (folder) await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true })
      }
    }
    page.complaints = page.complaints.filter((c) => !/status of 40[04]/.test(c))
    await page.done()
  }
})

await check('everything works without JavaScript, and keeps the chosen language', async () => {
  const page = await signIn('/account/webhooks/new', key, { javaScriptEnabled: false })
  await page.locator('#type').selectOption('IP')
  await press(page, page.locator('[data-preview-button]'))
  same(await page.locator('#type').inputValue(), 'IP', 'the type')
  await page.locator('#preview .total').waitFor()
  await page.goto(base + '/account/keys?lang=en')
  await page.locator('summary.button').click()
  await page.locator('#name').fill('Plain')
  await press(page, page.locator('.make button'))
  same(await page.locator('html').getAttribute('lang'), 'en', 'the language')
  await page.locator('#secret').waitFor()
  await page.done()
})

// --- operators

await check('operators see all owners, and revoke the key of one; others find no such page', async () => {
  const others = await signIn('/account')
  same((await others.request.get(`${base}/account/owners`, { headers: { Accept: 'text/html' } })).status(), 404, 'the page for others')
  await others.done()
  const page = await signIn('/account/owners', operator)
  await page.locator('.owners th a', { hasText: 'Mesa de análisis' }).click()
  await page.locator('.owner').waitFor()
  await page.locator('.owner a[href*="/account/keys"]').click()
  await page.locator('.list th a', { hasText: 'Mesa de análisis' }).click()
  await page.locator('.sure summary').click()
  await press(page, page.locator('.sure button'))
  same((await api('/api/v1/account', key)).status, 401, 'the status of the owner')
  await page.done()
})

other.close()
await finish()
