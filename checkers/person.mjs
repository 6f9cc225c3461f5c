// A person with a browser who signs in and allows applications, and the place
// where an application waits for the answer. Shared by the checkers of sign-in.
import http from 'node:http'
import { launch, PATIENCE } from './browser.mjs'

const browser = await launch()
export const leave = () => browser.close()

// Person signs in with the provider (as: {sub}) or by a key (as: {key}), once.
export class Person {
  constructor(as) {
    this.as = as
  }

  // answer opens the address of an authorization request and answers it.
  // Returns what the consent page says.
  async answer(address, button = 'Allow') {
    this.context ??= await browser.newContext({ locale: 'en-GB' })
    this.context.setDefaultTimeout(PATIENCE)
    const page = await this.context.newPage()
    try {
      return await this.use(page, address, button)
    } catch (error) {
      throw new Error(`${error.message}\n${page.url()} says: ${await page.locator('body').innerText()}`)
    } finally {
      await page.close()
    }
  }

  async use(page, address, button) {
    await page.goto(String(address))
    if (!this.signedIn) await this.signIn(page)
    this.signedIn = true
    const choice = page.getByRole('button', { name: button })
    await choice.waitFor()
    const said = await page.locator('main').innerText()
    await choice.click()
    await page.getByText('You can close this page.').waitFor()
    return said
  }

  async signIn(page) {
    if (this.as.key) {
      await page.getByLabel('API key').fill(this.as.key)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      return
    }
    await page.getByRole('link', { name: 'Example Corp' }).click()
    await page.getByLabel('Who are you?').fill(this.as.sub)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
}

// wait returns a redirect URI of this machine, and a function that returns the
// parameters with which a browser arrived there last.
export async function wait() {
  let arrived
  const server = http.createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1')
    if (pathname === '/callback') arrived = searchParams
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<p>You can close this page.</p>')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return { uri: `http://127.0.0.1:${server.address().port}/callback`, arrived: () => arrived }
}
