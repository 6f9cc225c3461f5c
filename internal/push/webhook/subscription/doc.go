// Package subscription keeps the webhooks that accounts register: their addresses,
// filters and secrets, and whether the account and the key of each are still valid.
//
// All processes write webhooks to the store, and each follows what the others wrote. A
// Registry has the webhooks that one process knows; a Snapshot of them never changes.
// Package delivery reads snapshots, and sends to these webhooks.
//
// A webhook is paused while its account or the key with which it was made is not valid.
// Deliveries are created but not sent. The account can adopt it.
package subscription
