// An OpenID provider, with which the tests sign in.
//
//   node idp.mjs SETTINGS
//
// SETTINGS is JSON: {"redirect_uris": [...], "people": [{"sub": "ana", "email": "ana@example.com",
// "email_verified": true, "name": "Ana", "groups": ["analysts"]}]}. The client is "pregon" with
// the secret "s3cret of pregon". The login page asks for the sub of a person and no password.
// Prints its issuer when it is ready, and ends with its standard input.
import http from 'node:http'
import Provider from 'oidc-provider'

const { redirect_uris, people } = JSON.parse(process.argv[2])
const byID = new Map(people.map((p) => [p.sub, p]))

const server = http.createServer((request, response) => handle(request, response))
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const issuer = `http://127.0.0.1:${server.address().port}`

const provider = new Provider(issuer, {
  clients: [{ client_id: 'pregon', client_secret: 's3cret of pregon', redirect_uris }],
  pkce: { required: () => true },
  claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
  conformIdTokenClaims: false, // as most providers: the claims are in the ID token
  findAccount: (_, sub) => byID.has(sub) && { accountId: sub, claims: () => byID.get(sub) },
  // The organization has agreed for its people: there is no second page that asks.
  loadExistingGrant: async ({ oidc }) => {
    const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
    grant.addOIDCScope('openid email profile')
    await grant.save()
    return grant
  },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, interaction) => `/login/${interaction.uid}` },
})

const callback = provider.callback()
async function handle(request, response) {
  if (!request.url.startsWith('/login/')) return callback(request, response)
  if (request.method !== 'POST') return page(response, 200, '')
  let form = ''
  for await (const chunk of request) form += chunk
  const sub = new URLSearchParams(form).get('sub')
  if (!byID.has(sub)) return page(response, 400, `<p role="alert">${JSON.stringify([...byID.keys()])} can sign in.</p>`)
  await provider.interactionFinished(request, response, { login: { accountId: sub } })
}

function page(response, status, alert) {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
  response.end(`<!doctype html><html lang="en"><title>Provider</title>${alert}<form method="post"><label>Who are you? <input name="sub" required></label><button>Sign in</button></form></html>`)
}

process.stdin.on('end', () => process.exit()).resume()
console.log(issuer)
