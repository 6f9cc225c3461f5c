package store

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// Known reports whether it is one of the states.
func (s DeliveryState) Known() bool {
	return s == DeliveryPending || s == DeliveryDelivered || s == DeliveryDead
}

// Webhooks returns the webhooks of deliveries, each once, in order.
func Webhooks(deliveries []Delivery) []string {
	return ordered(deliveries, func(d *Delivery) string { return d.Webhook })
}

// ResultWebhooks returns the webhooks of results, each once, in order.
func ResultWebhooks(results []Result) []string {
	return ordered(results, func(r *Result) string { return r.Webhook })
}

func ordered[T any](values []T, webhook func(*T) string) []string {
	seen := map[string]bool{}
	for i := range values {
		seen[webhook(&values[i])] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Meets fails when the log is not the one that the caller read, given its epoch
// and the change that it has where f.Seen should be.
func (f *FanOut) Meets(epoch string, found disclosure.Mark) error {
	if f.Epoch != "" && f.Epoch != epoch || f.Seen != (disclosure.Mark{}) && f.Seen != found {
		return fault.New(fault.Unavailable, "the log is not the one that was read, of epoch %s: a backup was restored, and is being loaded", f.Epoch)
	}
	return nil
}

// An AttemptKey names an attempt. Its time is in microseconds from 1970.
type AttemptKey struct {
	Webhook string
	Seq, At int64
}

// Key returns the name of a result's attempt.
func (r *Result) Key() AttemptKey {
	return AttemptKey{Webhook: r.Webhook, Seq: r.Seq, At: r.Attempt.At.UnixMicro()}
}

// Texts returns an attempt's error and excerpt as both engines can keep them:
// others wrote them, and one odd byte must not keep a result from being noted.
func (a *Attempt) Texts() (failure, excerpt string) {
	return text(a.Error), text(a.Excerpt)
}

func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Settled is what attempts make of one delivery. An engine adds the attempts,
// and writes the rest if the delivery is pending or State is delivered.
type Settled struct {
	Webhook       string
	Seq           int64
	Attempts      int
	State         DeliveryState
	DueAt, DoneAt time.Time // one of them is zero
}

// Tried is what attempts make of one webhook. An engine keeps the later one of
// each last time. FailingSince replaces what is known after a success, and
// otherwise only if nothing is.
type Tried struct {
	Webhook                      string
	Succeeded                    bool
	FailingSince                 time.Time // zero: none failed since the success
	LastSuccessAt, LastFailureAt time.Time // zero: none
}

// PlanSettle works out what a Settle writes beside the attempts, given those
// that were noted just now. It is the part that is the same for every engine.
// What it returns is in order of webhook and seq.
func PlanSettle(results []Result, noted map[AttemptKey]bool) ([]Settled, []Tried) {
	type delivery struct {
		webhook string
		seq     int64
	}
	settled, tried := map[delivery]*Settled{}, map[string]*Tried{}
	for i := range results {
		r := &results[i]
		if !noted[r.Key()] {
			continue
		}
		delete(noted, r.Key()) // told twice at once, it counts once
		id := delivery{r.Webhook, r.Seq}
		if settled[id] == nil {
			settled[id] = &Settled{Webhook: r.Webhook, Seq: r.Seq, State: DeliveryPending}
		}
		settled[id].add(r)
		if tried[r.Webhook] == nil {
			tried[r.Webhook] = &Tried{Webhook: r.Webhook}
		}
		tried[r.Webhook].add(r)
	}
	deliveries := make([]Settled, 0, len(settled))
	for _, s := range settled {
		deliveries = append(deliveries, *s)
	}
	slices.SortFunc(deliveries, func(a, b Settled) int {
		return cmp.Or(cmp.Compare(a.Webhook, b.Webhook), cmp.Compare(a.Seq, b.Seq))
	})
	webhooks := make([]Tried, 0, len(tried))
	for _, t := range tried {
		webhooks = append(webhooks, *t)
	}
	slices.SortFunc(webhooks, func(a, b Tried) int { return cmp.Compare(a.Webhook, b.Webhook) })
	return deliveries, webhooks
}

func (s *Settled) add(r *Result) {
	s.Attempts++
	if s.State != DeliveryPending && r.State != DeliveryDelivered {
		return
	}
	s.State, s.DueAt, s.DoneAt = r.State, time.Time{}, time.Time{}
	switch {
	case r.State != DeliveryPending:
		s.DoneAt = r.Attempt.At.Add(r.Attempt.Latency)
	case r.DueAt.IsZero():
		s.DueAt = r.Attempt.At // it is past, so that the delivery is due
	default:
		s.DueAt = r.DueAt
	}
}

func (t *Tried) add(r *Result) {
	at := r.Attempt.At
	if r.State == DeliveryDelivered {
		t.Succeeded, t.FailingSince = true, time.Time{}
		t.LastSuccessAt = later(t.LastSuccessAt, at)
		return
	}
	if t.FailingSince.IsZero() {
		t.FailingSince = at
	}
	t.LastFailureAt = later(t.LastFailureAt, at)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
