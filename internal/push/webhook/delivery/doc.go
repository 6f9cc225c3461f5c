// Package delivery sends changes to the webhooks of package subscription.
//
// # Implementation
//
// The fan-out writes one row per change and webhook in the transaction that
// advances its position in the log. That transaction fails if a webhook was
// written that it did not know. So no change is skipped, whenever a process dies.
// Any number of processes may try; one succeeds.
//
// Package queue claims webhooks and has their due deliveries sent. A claim ends at its
// first failure.
//
// Webhooks that search in documents are matched in two steps, so that a text that
// loads slowly, or not at all, delays no other webhook. The fan-out writes one
// delivery to textQueue if the change has a document and meets the other
// conditions of such a webhook. A process claims that queue like a webhook, loads
// each text once, and writes the deliveries to the webhooks that match. A text that
// cannot be loaded is tried again.
//
// Due times are set by the clock of the process that settles and compared with
// the clock of the store. A wrong clock shifts retries and has no other effect.
package delivery
