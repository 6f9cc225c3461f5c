// Holds the authorization code flow to oauth4webapi, which others wrote.
//
//   node oauth-code.mjs BASE_URL key KEY
//   node oauth-code.mjs BASE_URL sub SUB
//
// A person with a browser signs in, by a key or as one of the provider, and allows what is asked.
import assert from 'node:assert/strict'
import * as oauth from 'oauth4webapi'
import { leave, Person, wait } from './person.mjs'

const [, , base, how, who] = process.argv
const plain = { [oauth.allowInsecureRequests]: true } // the service under test is on this machine
const none = oauth.None()

const response = await oauth.discoveryRequest(new URL(base), { algorithm: 'oauth2', ...plain })
const as = await oauth.processDiscoveryResponse(new URL(base), response)
assert.deepEqual(as.code_challenge_methods_supported, ['S256'])
assert.equal(as.authorization_response_iss_parameter_supported, true)
assert.equal(as.client_id_metadata_document_supported, true)
assert.ok(as.scopes_supported.includes('read:reports'))

const registration = await oauth.dynamicClientRegistrationRequest(as, {
  client_name: 'Checkers', redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none',
}, plain)
const client = await oauth.processDynamicClientRegistrationResponse(registration)

const person = new Person({ [how]: who })

// ask lets the person answer a request for a code, and returns the answer, checked
// with its issuer and state.
async function ask(changes = {}, button = 'Allow') {
  const back = await wait()
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const address = new URL(as.authorization_endpoint)
  const parameters = {
    client_id: client.client_id, redirect_uri: back.uri, response_type: 'code', scope: 'read:reports read:issuers', state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256', ...changes,
  }
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
  await person.answer(address, button)
  return { answer: () => oauth.validateAuthResponse(as, client, back.arrived(), state), redirectURI: back.uri, verifier }
}

async function exchange({ answer, redirectURI, verifier }, parameters) {
  const response = await oauth.authorizationCodeGrantRequest(as, client, none, answer(), redirectURI, verifier, { additionalParameters: parameters, ...plain })
  assert.equal(response.headers.get('cache-control'), 'no-store')
  return oauth.processAuthorizationCodeResponse(as, client, response)
}

async function refresh(token, parameters) {
  const response = await oauth.refreshTokenGrantRequest(as, client, none, token, { additionalParameters: parameters, ...plain })
  return oauth.processRefreshTokenResponse(as, client, response)
}

const refusedWith = (error) => (e) => {
  assert.ok(e instanceof oauth.ResponseBodyError, e)
  assert.equal(e.error, error)
  return true
}
const call = (token, path = '/api/v1/reports?in=document&search=dividendo') =>
  oauth.protectedResourceRequest(token, 'GET', new URL(base + path), undefined, undefined, plain)

// ended waits until an access token is refused: each replica learns of it within a second.
async function ended(token) {
  const refused = () => call(token).then(() => false, (e) => e instanceof oauth.WWWAuthenticateChallengeError)
  for (const until = Date.now() + 60_000; !(await refused());) {
    assert.ok(Date.now() < until, 'the token is still good')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

// A code, once.
const first = await ask()
const tokens = await exchange(first)
assert.equal(tokens.scope, 'read:reports read:issuers')
const claims = await oauth.validateJwtAccessToken(as, new Request(base, { headers: { authorization: `Bearer ${tokens.access_token}` } }), base, plain)
assert.equal(claims.client_id, client.client_id)
assert.equal((await call(tokens.access_token)).status, 200)
assert.equal((await call(tokens.access_token, '/api/v1/account')).status, 403) // an application makes no keys

// Refresh tokens, each once; no more than was granted.
const second = await refresh(tokens.refresh_token)
assert.notEqual(second.refresh_token, tokens.refresh_token)
await assert.rejects(refresh(second.refresh_token, { scope: 'read:reports read:analytics' }), refusedWith('invalid_scope'))
const third = await refresh(second.refresh_token, { scope: 'read:reports' })
assert.equal(third.scope, 'read:reports')

// One that was used already ends the grant and all its tokens.
await assert.rejects(refresh(second.refresh_token), refusedWith('invalid_grant'))
await assert.rejects(refresh(third.refresh_token), refusedWith('invalid_grant'))
await ended(third.access_token)

// A code that comes twice ends what it gave.
const again = await ask()
const given = await exchange(again)
await assert.rejects(exchange(again), refusedWith('invalid_grant'))
await ended(given.access_token)

// The verifier of another request does not fit.
const mine = await ask()
await assert.rejects(exchange({ ...mine, verifier: again.verifier }), refusedWith('invalid_grant'))

// A token for MCP says so, and is not for REST.
const mcp = await exchange(await ask({ resource: `${base}/api/mcp`, scope: 'read:reports offline_access' }), { resource: `${base}/api/mcp` })
await oauth.validateJwtAccessToken(as, new Request(base, { headers: { authorization: `Bearer ${mcp.access_token}` } }), `${base}/api/mcp`, plain)
await assert.rejects(call(mcp.access_token), oauth.WWWAuthenticateChallengeError)
const kept = await refresh(mcp.refresh_token) // some clients do not repeat the resource
await oauth.validateJwtAccessToken(as, new Request(base, { headers: { authorization: `Bearer ${kept.access_token}` } }), `${base}/api/mcp`, plain)

// Revocation, by the refresh token.
const last = await exchange(await ask())
assert.equal((await call(last.access_token)).status, 200)
await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, none, last.refresh_token, plain))
await assert.rejects(refresh(last.refresh_token), refusedWith('invalid_grant'))
await ended(last.access_token)

// A person who says no.
const denied = await ask({}, 'Deny')
assert.throws(denied.answer, (e) => e instanceof oauth.AuthorizationResponseError && e.error === 'access_denied')

console.log('oauth4webapi found nothing wrong')
await leave()
