package query

import (
	"encoding/json"
	"fmt"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
)

// Status is the state of the service and of its source.
type Status struct {
	Version  string     `json:"version"`
	Source   *string    `json:"source"`
	State    string     `json:"state"`
	Since    *time.Time `json:"since"`
	Checked  *time.Time `json:"checked_at"`
	Reasons  []reason   `json:"reasons"`
	Surfaces []surface  `json:"surfaces"`
	Created  *time.Time `json:"store_created_at"`
	Seq      int64      `json:"seq"`
	Epoch    string     `json:"epoch"`
	Catalog  struct {
		Reports int     `json:"reports"`
		Issuers int     `json:"issuers"`
		Behind  float64 `json:"behind_seconds"`
	} `json:"catalog"`
	Latest   []latest   `json:"latest"`
	Latency  []latency  `json:"latency"`
	Backfill []backfill `json:"backfill"`
	Limit    rateLimit  `json:"rate_limit"`
}

// rateLimit is the limit of callers without a credential.
type rateLimit struct {
	Requests *int   `json:"requests"` // null when there is no limit
	Seconds  *int   `json:"window_seconds"`
	Shared   string `json:"shared"`
}

type reason struct {
	Surface string    `json:"surface"`
	Reason  string    `json:"reason"`
	Since   time.Time `json:"since"`
}

type surface struct {
	Name     string     `json:"name"`
	OK       bool       `json:"ok"`
	State    string     `json:"state"`
	Success  *time.Time `json:"last_success_at"`
	Failure  *time.Time `json:"last_failure_at"`
	Failures int        `json:"failures_in_a_row"`
	Error    *string    `json:"error"`
}

type latest struct {
	Type        string    `json:"type"`
	ID          string    `json:"id"`
	PublishedAt time.Time `json:"published_at"`
	AvailableAt time.Time `json:"available_at"`
	ToSecond    bool      `json:"-"` // the seconds of PublishedAt are known
}

// latency holds the percentiles of the last 24 hours, in seconds.
type latency struct {
	Types                 []string     `json:"types"`
	Hours                 int          `json:"window_hours"`
	Count                 int          `json:"count"`
	RegisteredToSeen      *Percentiles `json:"registered_to_seen"`
	SeenToAvailable       *Percentiles `json:"seen_to_available"`
	SeenToEnriched        *Percentiles `json:"seen_to_enriched"`
	RegisteredToAvailable *Percentiles `json:"registered_to_available"`
}

// Percentiles are durations in seconds.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

type backfill struct {
	ID      string   `json:"id"`
	From    string   `json:"from"`
	To      string   `json:"to"`
	Types   []string `json:"types"`
	Numbers *string  `json:"numbers"`
	Steps   int      `json:"steps"`
	Total   int      `json:"total"`
	New     int      `json:"new"`
	Trouble *string  `json:"trouble"`
}

const latencyHours = 24

// Status returns the state of the service.
func (q *Service) Status(s *catalog.Snapshot) Status {
	now := time.Now()
	out := Status{
		Version:  q.Version,
		Source:   OrNull(q.Source()),
		Seq:      s.Seq(),
		Epoch:    s.Head().Epoch,
		Reasons:  []reason{},
		Surfaces: []surface{},
		Latest:   []latest{},
		Backfill: []backfill{},
		Created:  TimeOrNull(q.StoreCreated),
	}
	out.Catalog.Reports, out.Catalog.Issuers = s.Len(), len(s.Directory().Issuers())
	out.Catalog.Behind = seconds(q.Catalog.Behind())
	out.setSource(q.SourceStatus())
	for _, t := range disclosure.Types {
		for _, f := range s.Newest(disclosure.Filter{Type: t}, 1).Reports {
			r := f.Decode()
			out.Latest = append(out.Latest, latest{
				Type:        string(t),
				ID:          r.ID,
				PublishedAt: Madrid(r.PublishedAt),
				AvailableAt: Madrid(r.AvailableAt),
				ToSecond:    r.SecondsKnown(),
			})
		}
	}
	out.Latency = q.latency(s, now)
	for _, j := range q.Coverage.Jobs() {
		if !j.Done {
			out.Backfill = append(out.Backfill, newBackfill(j))
		}
	}
	out.Limit.Shared = q.Shared()
	if l := q.Limit; l != nil {
		seconds := int(l.Window.Seconds())
		out.Limit.Requests, out.Limit.Seconds = &l.Policy.Limit, &seconds
	}
	return out
}

// SourceStatus returns the health of the source and of the store.
func (q *Service) SourceStatus() health.Status {
	s := q.Coverage.SourceStatus(q.ReadsSource)
	if q.StoreStatus == nil {
		return s
	}
	return s.WithStore(q.StoreStatus())
}

// State returns the health of the source for streams.
func (q *Service) State() events.State {
	var out Status
	out.Reasons, out.Surfaces = []reason{}, []surface{}
	out.setSource(q.SourceStatus())
	body, err := json.Marshal(map[string]any{"state": out.State, "since": out.Since, "reasons": out.Reasons})
	if err != nil {
		panic(err) // strings and times always encode
	}
	return events.State{Name: out.State, JSON: body}
}

func (out *Status) setSource(s health.Status) {
	out.State = string(s.State)
	out.Since = TimeOrNull(s.Since)
	out.Checked = TimeOrNull(s.At)
	for _, r := range s.Reasons {
		out.Reasons = append(out.Reasons, reason{r.Surface, r.Text(), Madrid(r.Since)})
	}
	for _, sf := range s.Surfaces {
		out.Surfaces = append(out.Surfaces, surface{
			sf.Name, sf.OK, SurfaceState(sf), TimeOrNull(sf.SuccessAt), TimeOrNull(sf.FailureAt), sf.Failures, OrNull(sf.Error),
		})
	}
}

// SurfaceState returns the state of a part of the source in one word.
func SurfaceState(s health.Surface) string {
	switch {
	case s.OK:
		return "ok"
	case s.Stale:
		return "stale"
	case s.SuccessAt.IsZero() && s.Failures == 0:
		return "unread"
	}
	return "failing"
}

// measured caches the latency of a snapshot.
type measured struct {
	of      *catalog.Snapshot
	at      time.Time
	latency []latency
}

// latency returns how long reports take. It walks the reports of a day, so the
// result is cached for a second.
func (q *Service) latency(s *catalog.Snapshot, now time.Time) []latency {
	if m := q.measured.Load(); m != nil && m.of == s && now.Sub(m.at) < time.Second {
		return m.latency
	}
	since := now.Add(-latencyHours * time.Hour)
	m := &measured{of: s, at: now, latency: []latency{ // the API promises HR apart
		newLatency(s, since, disclosure.IP, disclosure.OIR),
		newLatency(s, since, disclosure.HR),
	}}
	q.measured.Store(m)
	return m.latency
}

func newLatency(s *catalog.Snapshot, since time.Time, series ...disclosure.Type) latency {
	l := s.Latency(since, series...)
	return latency{
		Types:                 typeNames(series),
		Hours:                 latencyHours,
		Count:                 l.Count,
		RegisteredToSeen:      inSeconds(l.RegisteredToSeen),
		SeenToAvailable:       inSeconds(l.SeenToAvailable),
		SeenToEnriched:        inSeconds(l.SeenToEnriched),
		RegisteredToAvailable: inSeconds(l.RegisteredToAvailable),
	}
}

func newBackfill(j coverage.Job) backfill {
	numbers := ""
	if j.ByNumber() {
		numbers = fmt.Sprintf("%d-%d", j.First, j.Last)
	}
	return backfill{j.ID, j.From, j.To, typeNames(j.Types), OrNull(numbers), j.Steps, j.Total, j.New, OrNull(j.Trouble)}
}

func typeNames(types []disclosure.Type) []string {
	out := make([]string, len(types))
	for n, t := range types {
		out[n] = string(t)
	}
	return out
}

// inSeconds returns nil without a measurement.
func inSeconds(p *catalog.Percentiles) *Percentiles {
	if p == nil {
		return nil
	}
	return &Percentiles{seconds(p.P50), seconds(p.P90), seconds(p.P99), seconds(p.Max)}
}

// seconds returns a duration in seconds, rounded to milliseconds. It divides
// once: adding the fraction to the seconds, as Duration.Seconds does, gives
// 1.8780000000000001.
func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}

// Incidents returns the times when the source was degraded or blind, the newest
// first.
func (q *Service) Incidents() []coverage.Incident { return q.Coverage.Incidents() }
