// Package market is the simulated market: fictional issuers and their reports, in
// the rhythm and the wording of the real ones, so that the service can be run,
// shown, tested and measured with no network.
//
// Nothing in it is real, and it says so: every subject begins with Mark, every
// link points below the reserved domain .example, tax numbers carry a province
// code that was never assigned, and ISINs spell SIM.
//
// It is pure: the same seed gives the same market for ever. Issuers depend on
// the seed alone. What is filed on a day depends on the seed and the day, and a
// report's number on the days since the register's first, so that any two
// stretches of history agree on the days they share.
package market

import (
	"slices"

	"pregon/internal/disclosure"
)

// Mark begins the subject of every simulated report.
const Mark = "[Simulación] "

// Market is a fictional market: who files, and how. It does not change once
// made, and may be used by several goroutines.
type Market struct {
	seed    uint64
	issuers []*issuer
	filers  map[role]*urn[*issuer] // by every set of roles that a topic names
	topics  [3][12]urn[*topic]     // by series and month
	rush    [3][12]urn[*topic]     // the periodic ones among them
	stories map[string][]*topic    // topics that come together
}

// role is what an issuer is to the market; roles can be joined in a set.
type role uint8

const (
	listed  role = 1 << iota
	private      // a company that has only debt outstanding
	trust        // a securitisation fund
	pool         // an investment fund
	manager
)

// issuer is what the directory tells of an entity and what its reports need.
type issuer struct {
	disclosure.Issuer
	role    role
	sector  *sector
	place   string         // that a company's name tells
	large   bool           // sets the scale of its amounts
	price   float64        // of a share, in euros
	shares  int            // outstanding
	renamed disclosure.Day // the last day under the former name; zero is never
	manager *issuer        // of a fund
	banker  *issuer        // a fund's depositary, or the bank whose loans it holds
}

// lends reports whether the issuer is a bank.
func (i *issuer) lends() bool { return i.sector == &sectors[0] }

// New makes the market of a seed.
func New(seed uint64) *Market {
	m := &Market{seed: seed, filers: map[role]*urn[*issuer]{}, stories: map[string][]*topic{}}
	f := foundry{dice: m.dice(forIssuers, 0, 0), used: map[string]bool{}}
	for _, ticker := range noTickers {
		f.used[ticker] = true
	}
	f.companies()
	f.managers()
	f.funds()
	m.issuers = f.made
	m.arrange()
	return m
}

// Issuers returns the directory: companies, managers, funds.
func (m *Market) Issuers() []disclosure.Issuer {
	out := make([]disclosure.Issuer, len(m.issuers))
	for n, i := range m.issuers {
		out[n] = i.Issuer
		out[n].ISINs = slices.Clone(i.ISINs)
		out[n].FormerNames = slices.Clone(i.FormerNames)
	}
	return out
}

// arrange sorts topics by month and issuers by role, for drawing.
func (m *Market) arrange() {
	for n := range topics {
		t := &topics[n]
		for month := range 12 {
			m.topics[t.series.Index()][month].put(t, t.weight*t.inMonth(month))
			if t.periodic {
				m.rush[t.series.Index()][month].put(t, t.weight*t.inMonth(month))
			}
		}
		if t.story != "" {
			m.stories[t.story] = append(m.stories[t.story], t)
		}
		if m.filers[t.who] != nil {
			continue
		}
		m.filers[t.who] = &urn[*issuer]{}
		rank := 0
		for _, i := range m.issuers {
			if i.role&t.who != 0 {
				rank++
				m.filers[t.who].put(i, 100+1500/(rank+4)) // a few file much, most seldom
			}
		}
	}
}
