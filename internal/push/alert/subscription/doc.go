// Package subscription keeps the channels and the alerts of accounts.
//
// A channel is confirmed by its receiver before anything else is sent to it: the request
// to confirm has a link with a secret, and the receiver presses a button on the page
// behind it. The same receiver can end the channel by a link in every message, without
// an account.
//
// Channels and alerts are records of one kind in the store, so that one revision shows
// which state of both a process has. Every process has all of them in memory.
package subscription
