package webhook

import "strconv"

// MessageID is the webhook-id of every attempt to deliver a change.
func MessageID(webhook string, seq int64) string {
	return webhook + "." + strconv.FormatInt(seq, 10)
}
