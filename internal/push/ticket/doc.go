// Package ticket keeps tickets: a browser uses one to open a stream.
//
// EventSource cannot send a header, and a key in an address would be in logs and histories.
// So a caller exchanges its credential for a ticket: a random text that opens one stream, with
// the selection of its creation and the rights that the credential has at that moment. It can
// be used first within FirstUse, and again within Reuse of the first use. It has one connection
// at a time: a newer one ends the older one, which may be broken without the server having
// noticed.
//
// A ticket is one record of the store, with the digest of the text. Every process holds all
// tickets in memory and follows the store, so that a ticket works on every replica, and a
// connection to one replica ends that to another within a second. Records of expired tickets
// are removed, and their ids are used again, since the store keeps the id of a removed record.
package ticket
