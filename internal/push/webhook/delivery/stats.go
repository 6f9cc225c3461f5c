package delivery

import (
	"time"
)

// Stats are counts of this process since its start, and its current load.
type Stats struct {
	Delivered int64 // successful deliveries
	Failed    int64 // failed attempts
	Dead      int64 // abandoned deliveries
	Retried   int64 // attempts after the first
	Lag       int64 // changes without deliveries yet
	InFlight  int   // requests
	Disabled  int   // webhooks
	// Matching is the time that matching took for all accounts, CostliestAccount for the
	// account with the longest among those with webhooks. The metric has that name.
	Matching, CostliestAccount time.Duration
}

// Stats returns the current counts.
func (s *Service) Stats() Stats {
	total, most := s.matcher.costs.sums()
	disabled := 0
	for _, h := range s.hooks.Known().Hooks {
		if !h.Enabled {
			disabled++
		}
	}
	return Stats{
		Disabled:         disabled,
		Matching:         total,
		CostliestAccount: most,
		Delivered:        s.counts.delivered.Load(),
		Failed:           s.counts.failed.Load(),
		Dead:             s.counts.dead.Load(),
		Retried:          s.counts.retried.Load(),
		Lag:              max(0, s.encoder.Newest()-s.fan.Reached()),
		InFlight:         int(s.counts.inFlight.Load()),
	}
}
