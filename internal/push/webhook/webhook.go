// Package webhook delivers changes to receivers, at addresses that callers gave.
//
// # Guarantees
//
// A change that a webhook selects is delivered at least once. If that fails,
// the owner can see it and the reason. Deliveries of one webhook are sent in
// the order of the log, one at a time. Only a delivery that waits for a retry is
// overtaken. A delivery is sent twice only if its result could not be stored,
// because the process died or lost the store, or if its owner requests it. Its webhook-id is the same
// each time.
//
// A webhook is paused while its owner or the key with which it was made is not
// valid. Deliveries are created but not sent. The owner can adopt it.
//
// # Implementation
//
// The fan-out writes one row per change and webhook in the transaction that
// advances its position in the log. That transaction fails if a webhook was
// written that it did not know. So no change is skipped, whenever a process dies.
// Any number of processes may try; one succeeds.
//
// The dispatcher claims webhooks, never single deliveries, so that one
// process at a time sends to an address. Results are settled in batches. A claim
// is released only when all of its results are settled. Claims of healthy and of
// failing webhooks are counted separately, and a claim ends at its first
// failure: a bad receiver never delays another.
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
// A claim has a duration, so it does not depend on the clocks of processes.
package webhook

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/server/outbound"
	"pregon/internal/store"
)

const (
	kind           = "webhook" // of the store's records
	maxPerOwner    = 50
	maxURL         = 2000
	maxDescription = 500
	maxFilters     = 10_000 // characters in the filters of an owner's webhooks together
)

// Draft holds the settings that the owner of a webhook chooses.
type Draft struct {
	URL         string             `json:"url"`
	Description string             `json:"description,omitempty"`
	Events      []disclosure.Event `json:"events"` // events.DefaultEvents if empty
	Filter      disclosure.Filter  `json:"-"`      // stored as filterRecord
	Enabled     bool               `json:"enabled"`
}

// Webhook selects events and names their receiver. Its tags are those of the stored record.
type Webhook struct {
	ID    string `json:"id"`
	Owner string `json:"owner"`
	// Key is the key with which it was made or adopted, without which it is not served.
	// It is empty if the account itself made it: the person, the subject of a token, or
	// the first key. That is also the meaning in records from before there was a Key.
	Key string `json:"key,omitempty"`
	Draft
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Every selected change after this one is delivered while the webhook is
	// enabled.
	StartsAfter    int64     `json:"starts_after"`
	EnabledAt      time.Time `json:"enabled_at,omitzero"` // when it was created or last enabled
	DisabledAt     time.Time `json:"disabled_at,omitzero"`
	DisabledReason string    `json:"disabled_reason,omitempty"`

	secrets  []secret // the newest last
	revision int64
}

// record is a webhook as it is stored.
type record struct {
	Webhook
	filterRecord
	Secrets []secret `json:"secrets"`
}

// filterRecord is a filter as it is stored.
type filterRecord struct {
	Search   string          `json:"search,omitempty"`
	Type     disclosure.Type `json:"type,omitempty"`
	Issuer   string          `json:"issuer,omitempty"`
	From     disclosure.Day  `json:"from,omitempty"`
	To       disclosure.Day  `json:"to,omitempty"`
	Category string          `json:"category,omitempty"`
	// Records from before there were words have no mark, and mean the whole name.
	CategoryWords bool            `json:"category_words,omitempty"`
	Kind          disclosure.Kind `json:"kind,omitempty"`
	Market        string          `json:"market,omitempty"`
	MarketWords   bool            `json:"market_words,omitempty"`

	NoSecuritisation bool `json:"no_securitisation,omitempty"`
	InDocument       bool `json:"in_document,omitempty"`
}

func (w *Webhook) body() (string, error) {
	body, err := json.Marshal(record{*w, filterRecord(w.Filter), w.secrets})
	return string(body), err
}

func readRecord(r store.Record) (Webhook, error) {
	var k record
	if err := json.Unmarshal([]byte(r.Body), &k); err != nil {
		return Webhook{}, err
	}
	if k.ID != r.ID {
		return Webhook{}, fmt.Errorf("its body has the id %q", k.ID)
	}
	w := k.Webhook
	w.Filter = disclosure.Filter(k.filterRecord)
	w.secrets = k.Secrets
	w.revision = r.Revision
	return w, nil
}

// Selection returns the events and the filter of the webhook.
func (d *Draft) Selection() events.Selection {
	return events.Selection{Events: d.Events, Filter: d.Filter}
}

// check validates a draft and sets the default events.
func (d *Draft) check(allowPrivate bool) error {
	if err := checkURL(d.URL, allowPrivate); err != nil {
		return err
	}
	switch {
	case utf8.RuneCountInString(d.Description) > maxDescription:
		return invalid("description", "", fmt.Sprintf("may have %d characters at most", maxDescription))
	case !utf8.ValidString(d.Description) || strings.ContainsFunc(d.Description, unicode.IsControl):
		return invalid("description", "", "must be plain text on one line")
	}
	if reason := events.FilterError(d.Filter); reason != "" {
		return invalid("filter", d.Filter.Search, reason)
	}
	for _, e := range d.Events {
		if !slices.Contains(events.AllEvents, e) {
			return invalid("events", string(e), "use "+events.EventNames(events.AllEvents))
		}
	}
	if len(d.Events) == 0 {
		d.Events = events.DefaultEvents
	}
	// Normalize the set: the order of events.AllEvents, each once.
	named := d.Events
	d.Events = slices.DeleteFunc(slices.Clone(events.AllEvents), func(e disclosure.Event) bool { return !slices.Contains(named, e) })
	return nil
}

func checkURL(raw string, allowPrivate bool) error {
	if len(raw) > maxURL {
		return invalid("url", "", fmt.Sprintf("may have %d characters at most", maxURL))
	}
	if err := outbound.Check(raw, allowPrivate); err != nil {
		return invalid("url", withoutQuery(raw), err.Error())
	}
	return nil
}

func invalid(field, value, reason string) error {
	return &fault.Error{
		Kind: fault.Invalid, Message: field + ": " + strings.TrimSuffix(reason, ".") + ".",
		Fields: []fault.Field{{Name: field, Value: value, Reason: reason}},
	}
}

// hostOf returns the host of a URL for the audit log: paths may contain
// passwords.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}

// withoutQuery returns a URL without its query, which may contain a password.
func withoutQuery(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return (&url.URL{
		Scheme:  u.Scheme,
		Host:    u.Host,
		Path:    u.Path,
		RawPath: u.RawPath,
	}).String()
}
