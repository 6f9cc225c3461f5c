// Holds the service's OAuth to oauth4webapi and jose, which others wrote.
//
//   node oauth.mjs keys DIR       makes the keys of an identity provider and of a client
//   node oauth.mjs check URL DIR  asks for tokens with them, and checks all that comes back
//
// The Go test that calls it writes the configuration in between.
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import * as jose from 'jose'
import * as oauth from 'oauth4webapi'

const issuer = 'https://idp.example'
const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const type = (name) => `urn:ietf:params:oauth:token-type:${name}`
const plain = { [oauth.allowInsecureRequests]: true } // the service under test is on this machine

async function makeKeys(dir) {
  for (const [name, alg] of [['idp', 'ES256'], ['client', 'RS256']]) {
    const { publicKey, privateKey } = await jose.generateKeyPair(alg, { extractable: true })
    const kid = `${name}-1`
    const jwk = { ...(await jose.exportJWK(publicKey)), kid, alg, use: 'sig' }
    await writeFile(join(dir, `${name}.jwks.json`), JSON.stringify({ keys: [jwk] }))
    await writeFile(join(dir, `${name}.private.json`), JSON.stringify({ ...(await jose.exportJWK(privateKey)), kid, alg }))
  }
}

async function check(base, dir) {
  const key = async (name) => {
    const jwk = JSON.parse(await readFile(join(dir, `${name}.private.json`)))
    return { kid: jwk.kid, alg: jwk.alg, key: await jose.importJWK(jwk, jwk.alg) }
  }
  const idp = await key('idp')
  const clientKey = await key('client')

  const assertion = (typ, client, claims = {}) =>
    new jose.SignJWT({ client_id: client, ...claims })
      .setProtectedHeader({ alg: idp.alg, kid: idp.kid, typ })
      .setIssuer(issuer).setSubject('ana').setAudience(base).setIssuedAt().setExpirationTime('5m')
      .setJti(claims.jti ?? randomUUID())
      .sign(idp.key)

  // Discovery, as a client that was refused finds its way: RFC 9728, then 8414.
  const refused = await fetch(`${base}/api/v1/reports`, { headers: { authorization: 'Bearer nonsense' } })
  assert.equal(refused.status, 401)
  const challenge = refused.headers.get('www-authenticate')
  assert.match(challenge, /^Bearer error="invalid_token"/)
  assert.equal(challenge.match(/resource_metadata="([^"]+)"/)[1], `${base}/.well-known/oauth-protected-resource`)

  const resources = {}
  for (const resource of [base, `${base}/api/mcp`]) {
    const response = await oauth.resourceDiscoveryRequest(new URL(resource), plain)
    resources[resource] = await oauth.processResourceDiscoveryResponse(new URL(resource), response)
    assert.deepEqual(resources[resource].authorization_servers, [base])
  }
  const response = await oauth.discoveryRequest(new URL(base), { algorithm: 'oauth2', ...plain })
  const as = await oauth.processDiscoveryResponse(new URL(base), response)
  assert.equal(as.token_endpoint, `${base}/api/auth/token`)
  assert.ok(as.grant_types_supported.includes(exchange) && as.grant_types_supported.includes(jwtBearer))

  // ask goes through the library, which checks the answer to the letter.
  const ask = async (client, auth, grant, parameters) => {
    const answer = await oauth.genericTokenEndpointRequest(as, { client_id: client }, auth, grant, parameters, plain)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    return oauth.processGenericTokenEndpointResponse(as, { client_id: client }, answer)
  }
  const refusedWith = (error, status = 400) => (e) => {
    assert.ok(e instanceof oauth.ResponseBodyError, e)
    assert.equal(e.error, error)
    assert.equal(e.status, status)
    return true
  }

  const clients = {
    public: oauth.None(),
    basic: oauth.ClientSecretBasic('s3cret & more: of it'),
    post: oauth.ClientSecretPost('s3cret & more: of it'),
    signed: oauth.PrivateKeyJwt({ key: clientKey.key, kid: clientKey.kid }),
  }
  let token
  for (const [client, auth] of Object.entries(clients)) {
    for (const [name, typ] of [['id-jag', 'oauth-id-jag+jwt'], ['jwt', 'JWT']]) {
      const answer = await ask(client, auth, exchange, {
        subject_token: await assertion(typ, client), subject_token_type: type(name), scope: 'read:reports',
      })
      assert.equal(answer.issued_token_type, type('access_token'))
      assert.equal(answer.token_type, 'bearer') // as the library folds it
      assert.equal(answer.scope, 'read:reports')
      assert.equal(answer.expires_in, 600)
      const again = await ask(client, auth, jwtBearer, { assertion: await assertion(typ, client) })
      assert.equal(again.scope, 'read:reports read:issuers')
      token = again.access_token
    }
  }

  // RFC 9068, by the library and once more by jose alone.
  const request = (t) => new Request(base, { headers: { authorization: `Bearer ${t}` } })
  const claims = await oauth.validateJwtAccessToken(as, request(token), base, plain)
  assert.equal(claims.sub, `${issuer}#ana`)
  assert.equal(claims.client_id, 'signed')
  const keys = jose.createRemoteJWKSet(new URL(as.jwks_uri))
  const { protectedHeader } = await jose.jwtVerify(token, keys, { issuer: base, audience: base, typ: 'at+jwt', algorithms: ['RS256'] })
  assert.equal(protectedHeader.alg, 'RS256')

  // The token opens what it is for, and nothing else.
  const call = (path, t) => oauth.protectedResourceRequest(t, 'GET', new URL(base + path), undefined, undefined, plain)
  assert.equal((await call('/api/v1/reports', token)).status, 200)
  await assert.rejects(call('/api/v1/analytics', token), (e) => {
    assert.ok(e instanceof oauth.WWWAuthenticateChallengeError)
    assert.equal(e.status, 403)
    assert.equal(e.cause[0].parameters.error, 'insufficient_scope')
    return true
  })

  // A token for MCP says so, and is not for REST.
  const mcp = await ask('public', clients.public, exchange, {
    subject_token: await assertion('oauth-id-jag+jwt', 'public'), subject_token_type: type('id-jag'), resource: `${base}/api/mcp`,
  })
  await oauth.validateJwtAccessToken(as, request(mcp.access_token), `${base}/api/mcp`, plain)
  await assert.rejects(call('/api/v1/reports', mcp.access_token), oauth.WWWAuthenticateChallengeError)

  // Refusals, in the words of the RFCs.
  const once = await assertion('oauth-id-jag+jwt', 'public', { jti: 'once' })
  const bySubject = (subject_token, more = {}) => ({ subject_token, subject_token_type: type('id-jag'), ...more })
  await ask('public', clients.public, exchange, bySubject(once))
  await assert.rejects(ask('public', clients.public, exchange, bySubject(once)), refusedWith('invalid_request'))
  await assert.rejects(ask('public', clients.public, jwtBearer, { assertion: once }), refusedWith('invalid_grant'))
  await assert.rejects(ask('public', clients.public, exchange, bySubject(await assertion('JWT', 'public'))), refusedWith('invalid_request'))
  await assert.rejects(ask('public', clients.public, exchange, bySubject(await assertion('oauth-id-jag+jwt', 'public'), { resource: 'https://elsewhere.example' })), refusedWith('invalid_target'))
  await assert.rejects(ask('public', clients.public, exchange, bySubject(await assertion('oauth-id-jag+jwt', 'public'), { scope: 'read:analytics' })), refusedWith('invalid_scope'))
  await assert.rejects(ask('basic', oauth.ClientSecretBasic('wrong'), jwtBearer, { assertion: await assertion('JWT', 'basic') }), (e) => e.status === 401)
  await assert.rejects(ask('public', clients.public, 'client_credentials', {}), refusedWith('unsupported_grant_type'))
  await assert.rejects(ask('basic', clients.basic, jwtBearer, { assertion: await assertion('JWT', 'public') }), refusedWith('invalid_grant'))
  console.log('oauth4webapi and jose found nothing wrong')
}

const [, , what, ...args] = process.argv
await { keys: makeKeys, check }[what](...args)
