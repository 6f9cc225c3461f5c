// Package token is the authorization server. It trusts the issuers in its
// configuration, exchanges their assertions for its own access tokens, and verifies
// these tokens.
//
// There are two grants: token exchange (RFC 8693), and the JWT bearer grant
// (RFC 7523), which the identity assertion profile (ID-JAG) uses. Both verify an
// assertion in the same way. An assertion is good for one token, in all replicas
// together. It is claimed after all other checks, so that a client cannot use up the
// assertion of another.
//
// Tokens are JWTs (RFC 9068), signed by a key of the Ring, which is kept encrypted in
// the store and followed by all replicas.
//
// Nothing in this package logs an assertion, a token or a secret.
package token
