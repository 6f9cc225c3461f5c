// Package signin finds out who a person is, and keeps them signed in.
//
// A person signs in with an OpenID provider of the configuration, or shows a key. A
// session is a cookie that only this service can read; the account in the store says
// whether it is still open. Only the pages of package console use sessions: the API
// takes keys and tokens, and all other pages are the same for everybody.
package signin
