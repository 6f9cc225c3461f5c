// Package token is the authorization server: it trusts the issuers that the
// operator named, turns their assertions into access tokens of its own, and
// reports whether a token that it is shown is one of these.
//
// Two grants lead to a token: the exchange of RFC 8693, and the JWT bearer
// grant of RFC 7523 that the profile of identity assertions (ID-JAG) asks for.
// Both check the same assertion in the same way. An assertion is good for one
// token only, whichever replica it is shown to, and it is used up after
// everything else about it was found right, so that nobody can spend the
// assertion of somebody else.
//
// Tokens are JWTs as RFC 9068 has them, signed by a key of the Ring. The ring
// is in the store, sealed, and all replicas follow it.
//
// Nothing here writes an assertion, a token or a secret anywhere.
package token
