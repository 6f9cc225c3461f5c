package subscription

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/store"
)

const kind = "webhook" // of the store's records

// Draft holds the settings that the account of a webhook chooses.
type Draft struct {
	URL         string             `json:"url"`
	Description string             `json:"description,omitempty"`
	Events      []disclosure.Event `json:"events"` // events.DefaultEvents if empty
	Filter      disclosure.Filter  `json:"-"`      // stored as events.FilterRecord
	Enabled     bool               `json:"enabled"`
}

// Webhook selects events and names their receiver. Its tags are those of the stored record.
type Webhook struct {
	ID      string `json:"id"`
	Account string `json:"owner"` // the account that it belongs to
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
	events.FilterRecord
	// OnList is the filter, instead of FilterRecord, if it has a watchlist. A program from
	// before there were watchlists does not know it, and finds a filter that selects nothing.
	OnList  *events.FilterRecord `json:"on_list,omitempty"`
	Secrets []secret             `json:"secrets"`
}

// nothing is a filter by an issuer that cannot exist.
var nothing = events.FilterRecord{Issuer: "(watchlist)"}

func (w *Webhook) body() (string, error) {
	r := record{
		Webhook:      *w,
		FilterRecord: events.FilterRecord(w.Filter),
		Secrets:      w.secrets,
	}
	if w.Filter.Watchlist != "" {
		filter := r.FilterRecord
		r.OnList = &filter
		r.FilterRecord = nothing
	}
	body, err := json.Marshal(r)
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
	w.Filter = disclosure.Filter(k.FilterRecord)
	if k.OnList != nil {
		w.Filter = disclosure.Filter(*k.OnList)
	}
	w.secrets = k.Secrets
	w.revision = r.Revision
	return w, nil
}

// equal reports whether two drafts have the same settings.
func (d *Draft) equal(other Draft) bool {
	return d.URL == other.URL &&
		d.Description == other.Description &&
		slices.Equal(d.Events, other.Events) &&
		d.Filter == other.Filter &&
		d.Enabled == other.Enabled
}

// Selection returns the events and the filter of the webhook.
func (d *Draft) Selection() events.Selection {
	return events.Selection{Events: d.Events, Filter: d.Filter}
}
