// Package market is a simulated market: fictional issuers and their reports, with
// the frequency and the wording of the real ones, so that the service can be run,
// shown, tested and measured without a network.
//
// Nothing in it is real. Every title begins with Mark, every link points below
// the reserved domain .example, tax numbers carry a province code that was never
// assigned, and ISINs contain SIM.
//
// The same seed gives the same market in every version of the program. Issuers
// depend on the seed alone. The reports of a day depend on the seed and the day,
// and their numbers on the days since Epoch, so that any two ranges of the
// history agree on the days that they share.
package market

import (
	"slices"

	"pregon/internal/disclosure"
)

// Mark begins the title of every simulated report.
const Mark = "[Simulación] "

// Market is a fictional market. It is immutable and safe for concurrent use.
type Market struct {
	seed     uint64
	texts    *texts
	issuers  []*issuer
	filers   map[role]*weighted[*issuer] // by every set of roles that a topic names
	topics   [3][12]weighted[*topic]     // by series and month
	periodic [3][12]weighted[*topic]     // the periodic ones among them
	stories  map[string][]*topic
}

// role is a set of the roles of issuers.
type role uint8

const (
	listed         role = 1 << iota
	private             // a company that has only debt outstanding
	securitisation      // a securitisation fund
	fund                // an investment fund
	manager
)

// issuer is an issuer and the facts that its reports need.
type issuer struct {
	disclosure.Issuer
	role    role
	sector  *sector
	place   string         // in the name of a company
	large   bool           // sets the scale of its amounts
	price   float64        // of a share, in euros
	shares  int            // outstanding
	renamed disclosure.Day // the last day under the former name, or zero
	manager *issuer        // of a fund
	bank    *issuer        // a fund's depositary, or the bank whose loans it holds
}

// isBank reports whether the issuer is a bank.
func (i *issuer) isBank() bool { return i.sector != nil && i.sector.Bank }

// nameOn returns the name of the issuer on a day.
func (i *issuer) nameOn(day disclosure.Day) string {
	if day <= i.renamed {
		return i.FormerNames[0]
	}
	return i.Name
}

// New returns the market of a seed.
func New(seed uint64) *Market {
	m := &Market{
		seed:    seed,
		texts:   readTexts(),
		filers:  map[role]*weighted[*issuer]{},
		stories: map[string][]*topic{},
	}
	m.issuers = m.generateIssuers()
	for n := range m.texts.topics {
		m.addTopic(&m.texts.topics[n])
	}
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

// Fund is an investment fund with its manager and its depositary.
type Fund struct {
	disclosure.Issuer
	Manager    disclosure.Issuer
	Depositary disclosure.Issuer
}

// Funds returns the investment funds. Securitisation funds are not among them.
func (m *Market) Funds() []Fund {
	var out []Fund
	for _, i := range m.issuers {
		if i.role == fund {
			out = append(out, Fund{Issuer: i.Issuer, Manager: i.manager.Issuer, Depositary: i.bank.Issuer})
		}
	}
	return out
}

// Series returns the series in which an issuer files, in the order of
// disclosure.Types.
func (m *Market) Series(id string) []disclosure.Type {
	i := m.issuer(id)
	if i == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(disclosure.Types), func(series disclosure.Type) bool {
		return !slices.ContainsFunc(m.texts.topics,
			func(t topic) bool { return t.Type == series && t.Filers&i.role != 0 })
	})
}

// Sector returns the sector of a company as the regulator writes it, or "".
func (m *Market) Sector(id string) string {
	if i := m.issuer(id); i != nil && i.sector != nil {
		return i.sector.Label
	}
	return ""
}

// issuer returns an issuer by its id, or nil.
func (m *Market) issuer(id string) *issuer {
	n := slices.IndexFunc(m.issuers, func(i *issuer) bool { return i.ID == id })
	if n < 0 {
		return nil
	}
	return m.issuers[n]
}

// addTopic adds a topic and its filers to the lists from which they are picked.
func (m *Market) addTopic(t *topic) {
	for month := range 12 {
		m.topics[t.Type.Index()][month].add(t, t.weightIn(month))
		if t.Periodic {
			m.periodic[t.Type.Index()][month].add(t, t.weightIn(month))
		}
	}
	if t.Story != "" {
		m.stories[t.Story] = append(m.stories[t.Story], t)
	}
	if m.filers[t.Filers] != nil {
		return
	}
	m.filers[t.Filers] = &weighted[*issuer]{}
	rank := 0
	for _, i := range m.issuers {
		if i.role&t.Filers != 0 {
			rank++
			m.filers[t.Filers].add(i, 100+1500/(rank+4)) // a few file much, most of them rarely
		}
	}
}
