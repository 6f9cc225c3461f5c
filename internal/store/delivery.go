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

// Known reports whether s is one of the defined states.
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

// StoryKey identifies what a webhook has one delivery of.
type StoryKey struct{ Webhook, Story string }

// StoryKey returns the key of the delivery's story.
func (d *Delivery) StoryKey() StoryKey { return StoryKey{d.Webhook, d.Story} }

// MergeStories returns deliveries with one of each story of a webhook: the first, with the
// causes of all, due when the soonest is and in that one's lane.
func MergeStories(deliveries []Delivery) []Delivery {
	at := map[StoryKey]int{}
	out := make([]Delivery, 0, len(deliveries))
	for _, d := range deliveries {
		i, had := at[d.StoryKey()]
		if d.Story == "" || !had {
			at[d.StoryKey()] = len(out)
			out = append(out, d)
			continue
		}
		first := &out[i]
		first.Cause = JoinCauses(first.Cause, d.Cause)
		if d.Wait < first.Wait {
			first.Wait = d.Wait
			first.At = d.At
			first.Lane = d.Lane
		}
	}
	return out
}

// JoinCauses returns the causes of a and those that only b has.
func JoinCauses(a, b string) string {
	all := strings.Fields(a)
	for _, cause := range strings.Fields(b) {
		if !slices.Contains(all, cause) {
			all = append(all, cause)
		}
	}
	return strings.Join(all, " ")
}

// Has reports whether a delivery is in a lane.
func (c *Claimed) Has(lane string) bool {
	return slices.ContainsFunc(c.Deliveries, func(d Delivery) bool { return d.Lane == lane })
}

// Meets fails when the log is not the one that the caller read. epoch is the
// epoch of the log, and found is its change at the seq of f.Seen.
func (f *FanOut) Meets(epoch string, found disclosure.Mark) error {
	if f.Epoch != "" && f.Epoch != epoch || f.Seen != (disclosure.Mark{}) && f.Seen != found {
		return fault.New(fault.Unavailable,
			"the log is not the one that was read, of epoch %s: a backup was restored, and is being loaded", f.Epoch)
	}
	return nil
}

// AttemptKey identifies an attempt. Its time is in microseconds from 1970.
type AttemptKey struct {
	Webhook string
	Seq, At int64
}

// Key returns the key of the result's attempt.
func (r *Result) Key() AttemptKey {
	return AttemptKey{Webhook: r.Webhook, Seq: r.Seq, At: r.Attempt.At.UnixMicro()}
}

// Texts returns an attempt's error and excerpt as valid text that both engines
// can store. They come from other servers, and an invalid byte must not prevent
// a result from being recorded.
func (a *Attempt) Texts() (failure, excerpt string) {
	return text(a.Error), text(a.Excerpt)
}

func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Settled is the effect of attempts on one delivery. An engine adds the number
// of attempts, and writes the rest if the delivery is pending or State is
// delivered.
type Settled struct {
	Webhook  string
	Seq      int64
	Attempts int
	State    DeliveryState
	Wait     time.Duration // from the present time of the store until a pending one is due
	DoneAt   time.Time     // zero of a pending one
}

// Tried is the effect of attempts on one webhook. An engine keeps the later
// value of each Last time, and stores no LastFailureAt that is later than its own
// time. FailingSince replaces the stored value after a
// success, and otherwise only if none is stored.
type Tried struct {
	Webhook                      string
	Succeeded                    bool
	FailingSince                 time.Time // zero: none failed since the success
	LastSuccessAt, LastFailureAt time.Time // zero: none
}

// PlanSettle returns the rows that a Settle writes besides the attempts. noted
// has the attempts that were new. It is the part of Settle that is the same for
// every engine. The results are in order of webhook and seq.
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
		delete(noted, r.Key()) // a repeated attempt counts once
		id := delivery{r.Webhook, r.Seq}
		if settled[id] == nil {
			settled[id] = &Settled{Webhook: r.Webhook, Seq: r.Seq, State: DeliveryPending}
		}
		settled[id].add(r)
		if r.Unsent {
			continue
		}
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
	s.State = r.State
	s.Wait = 0
	s.DoneAt = time.Time{}
	if r.State == DeliveryPending {
		s.Wait = r.Wait
	} else {
		s.DoneAt = r.Attempt.At.Add(r.Attempt.Latency)
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
