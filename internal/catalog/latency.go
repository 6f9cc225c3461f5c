package catalog

import (
	"slices"
	"time"

	"pregon/internal/disclosure"
)

// Latency holds how long reports took from stage to stage.
type Latency struct {
	Count                 int // reports, without those that came as history
	RegisteredToSeen      *Percentiles
	SeenToAvailable       *Percentiles
	SeenToEnriched        *Percentiles
	RegisteredToAvailable *Percentiles
}

// Percentiles of durations; nil if there are none.
type Percentiles struct{ P50, P90, P99, Max time.Duration }

// Latency measures the reports of some series that were published since an
// instant. Reports that were recovered after an outage count too.
func (s *Snapshot) Latency(since time.Time, series ...disclosure.Type) Latency {
	var seen, available, enriched, all []time.Duration
	for f := range s.Since(since) {
		published, first, shown, rich, backfilled := f.Clocks()
		if backfilled || !slices.Contains(series, f.Type()) {
			continue
		}
		seen = append(seen, first.Sub(published))
		available = append(available, shown.Sub(first))
		all = append(all, shown.Sub(published))
		if !rich.IsZero() {
			enriched = append(enriched, rich.Sub(first))
		}
	}
	return Latency{
		Count:                 len(all),
		RegisteredToSeen:      percentiles(seen),
		SeenToAvailable:       percentiles(available),
		SeenToEnriched:        percentiles(enriched),
		RegisteredToAvailable: percentiles(all),
	}
}

// percentiles sorts the durations. A percentile is the least measured value
// that so many in a hundred do not exceed. Negative durations, from clocks of two
// machines that differ, count as zero.
func percentiles(of []time.Duration) *Percentiles {
	if len(of) == 0 {
		return nil
	}
	slices.Sort(of)
	at := func(p int) time.Duration { return max(0, of[(len(of)*p+99)/100-1]) }
	return &Percentiles{
		P50: at(50),
		P90: at(90),
		P99: at(99),
		Max: at(100),
	}
}
