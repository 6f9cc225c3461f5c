// Package watchlist keeps the watchlists of accounts: issuers and saved searches, with a
// name and an order.
//
// A list is one record of the store. Every process holds all lists in memory and follows
// the store, so that a list is resolved without waiting: the process that wrote a change
// knows it at once, and others within a second.
//
// Two links of a list can be read without a credential: one that is shared with others,
// and the private address of its feeds and calendars. Each has a secret, which is sealed
// in the store and found by its digest.
package watchlist
