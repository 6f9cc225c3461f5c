package delivery

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// sign sets the headers of Standard Webhooks, with one signature for each key. It returns
// false without a key.
func sign(h http.Header, keys [][]byte, id string, at time.Time, body []byte) bool {
	stamp := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + stamp + "."))
		mac.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", stamp)
	h.Set("Webhook-Signature", strings.Join(signatures, " "))
	return len(signatures) > 0
}

// MessageID returns the webhook-id of every attempt at a delivery. It contains
// the epoch, since after a restored backup a seq belongs to another change.
func MessageID(d store.Delivery) string {
	return d.Webhook + "." + disclosure.Cursor{Epoch: d.Epoch, Seq: d.Seq}.String()
}
