package webhook

import (
	"time"
)

// Stats are counts of this process since its start, and its current load.
type Stats struct {
	Delivered, Failed, Dead, Retried int64 // successful deliveries; failed attempts; abandoned deliveries; attempts after the first
	Lag                              int64 // changes without deliveries yet
	InFlight                         int   // requests
	Disabled                         int   // webhooks
	// Matching is the time that matching took for all owners, CostliestOwner for the
	// owner with the longest among those with webhooks.
	Matching, CostliestOwner time.Duration
}

// Stats returns the current counts.
func (m *Manager) Stats() Stats {
	var most time.Duration
	m.costs.Lock()
	all := m.matching
	for _, c := range m.cost {
		most = max(most, c)
	}
	m.costs.Unlock()
	disabled := 0
	for _, h := range m.known.Load().byID {
		if !h.Enabled {
			disabled++
		}
	}
	return Stats{
		Disabled:       disabled,
		Matching:       all,
		CostliestOwner: most,
		Delivered:      m.delivered.Load(),
		Failed:         m.failed.Load(),
		Dead:           m.dead.Load(),
		Retried:        m.retried.Load(),
		Lag:            max(0, m.o.Encoder.Newest()-m.fannedOut.Load()),
		InFlight:       int(m.inFlight.Load()),
	}
}
