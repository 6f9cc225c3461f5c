package query

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
)

// Issuers searches the directory with the parameters search, kind, market, sector and
// limit. It also returns how many match.
func (p *Params) Issuers(ctx context.Context, s *catalog.Snapshot) (found []*search.Issuer, total int, err error) {
	query := p.Search()
	kind := p.Kind()
	selected := p.IssuersOf(s)
	limit := p.limit()
	if err := p.Err(); err != nil {
		return nil, 0, err
	}
	found, err = s.Issuers(ctx, query, kind, math.MaxInt)
	if selected != nil {
		found = slices.DeleteFunc(found, func(e *search.Issuer) bool { return !selected(e.Issuer) })
	}
	total = len(found)
	return found[:min(limit, total)], total, err
}

// Issuer is an issuer as the API returns it.
type Issuer struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	CIF         *string           `json:"cif"`
	Ticker      *string           `json:"ticker"`
	Market      *string           `json:"market"`
	Kind        *string           `json:"kind"`
	ISINs       []string          `json:"isins"` // of its own record and, now, of its positions
	FormerNames []string          `json:"former_names"`
	Aliases     []string          `json:"aliases"`
	Manager     *party            `json:"manager"`
	Depositary  *party            `json:"depositary"`
	LEI         *string           `json:"lei"`
	Sector      *string           `json:"sector"`
	Capital     *string           `json:"capital"`       // in euros, a decimal
	Votes       *string           `json:"voting_rights"` // their total number
	VotesOn     *string           `json:"voting_rights_on"`
	ReportCount *int              `json:"report_count"` // null if not known as of a point
	Latest      []json.RawMessage `json:"latest_reports"`
	Attribution Attribution       `json:"attribution"`
	AsOfSeq     *int64            `json:"as_of_seq,omitempty"` // only of a past state
}

// party is the manager or the depositary of a fund.
type party struct {
	Name string  `json:"name"`
	ID   *string `json:"id"` // null unless exactly one issuer has the name
}

func newParty(dir *search.Directory, name string) *party {
	if name == "" {
		return nil
	}
	p := &party{Name: name}
	if dir == nil {
		return p
	}
	if e, ok := dir.Named(name); ok {
		p.ID = &e.Issuer.ID
	}
	return p
}

const latestReports = 5

// IssuerKey returns the identifier of the issuer that name means: any of its
// identifiers, its ticker or its name. If no issuer or more than one has that name, it
// says so.
func IssuerKey(s *catalog.Snapshot, name string) (key string, unresolved *search.Unresolved) {
	if key, ok := issuerKey(s, name); ok {
		return key, nil
	}
	_, unresolved = s.Directory().Resolve(name)
	return "", unresolved
}

// issuerKey is IssuerKey without what to say if there is none.
func issuerKey(s *catalog.Snapshot, name string) (key string, ok bool) {
	if s.KnowsIssuer(name) {
		return name, true
	}
	key = disclosure.IssuerKey(name)
	_, nif := disclosure.ParseNIF(name)
	if s.Directory().Len() == 0 && (nif || disclosure.IsISIN(key) || disclosure.IsLEI(key)) {
		return name, true // the directory is not loaded yet
	}
	if found := s.Lookup(name); len(found) == 1 {
		return found[0].Issuer.ID, true
	}
	return RegisteredIssuer(s, name)
}

// RegisteredIssuer returns the id of the issuer in the directory to which positions with
// an identifier belong. The registers have ISINs and LEIs that the directory may not have.
func RegisteredIssuer(s *catalog.Snapshot, ident string) (id string, ok bool) {
	key, known := s.Positions().Key(ident)
	if !known {
		return "", false
	}
	_, ok = s.Issuer(key)
	return key, ok
}

// registeredKey is issuerKey for positions. The registers know issuers that the directory
// does not have.
func registeredKey(s *catalog.Snapshot, name string) (key string, ok bool) {
	if key, ok := issuerKey(s, name); ok {
		return key, true
	}
	return s.Positions().Key(name)
}

const (
	maxIssuerName = 200 // bytes
	maxCommas     = 3   // in the name of an issuer, and after it
)

// maxIssuerNames is the size of the parameter issuer in bytes: each of several may be a name.
const maxIssuerNames = disclosure.MaxIssuers * (maxIssuerName + 1)

// issuers reads the parameter issuer, which is one issuer or several with commas between
// them, and returns their identifiers. find is how an issuer is found.
func (p *Params) issuers(
	s *catalog.Snapshot,
	find func(s *catalog.Snapshot, name string) (key string, ok bool),
) (keys []string) {
	list := p.LimitedText("issuer", maxIssuerNames)
	if strings.TrimSpace(list) == "" {
		return nil
	}
	names := splitIssuers(list, func(name string) bool {
		if len(name) > maxIssuerName {
			return false
		}
		_, ok := find(s, name)
		return ok
	})
	if len(names) > disclosure.MaxIssuers {
		p.Reject("issuer", list, "may have %d issuers at most, and has %d", disclosure.MaxIssuers, len(names))
		return nil
	}
	for _, name := range names {
		if len(name) > maxIssuerName {
			p.Reject("issuer", name, "may have %d bytes at most for each issuer", maxIssuerName)
			return nil
		}
		key, ok := find(s, name)
		if !ok {
			_, unresolved := s.Directory().Resolve(name)
			p.rejectName("issuer", name, fault.Text{Format: unresolved.Sentence}, issuerIDs(unresolved.Near))
			return nil
		}
		if !slices.ContainsFunc(keys, func(k string) bool { return disclosure.IssuerKey(k) == disclosure.IssuerKey(key) }) {
			keys = append(keys, key)
		}
	}
	return keys
}

// splitIssuers returns the names in a list, each once: see search.SplitIssuers. The parts of
// a list that has far too many are not looked up.
func splitIssuers(list string, known func(name string) bool) (out []string) {
	if strings.Count(list, ",") > disclosure.MaxIssuers*maxCommas {
		known = func(string) bool { return false }
	}
	seen := map[string]bool{}
	for _, name := range search.SplitIssuers(list, known) {
		if folded := strings.ToLower(name); !seen[folded] {
			seen[folded] = true
			out = append(out, name)
		}
	}
	return out
}

// joinedIssuers returns identifiers as disclosure.Filter has them. A single one stays as it
// was typed.
func joinedIssuers(keys []string) string {
	if len(keys) == 1 {
		return keys[0]
	}
	return disclosure.JoinIssuers(keys)
}

// issuerIDs returns the ids of issuers.
func issuerIDs(issuers []*search.Issuer) []string {
	ids := make([]string, len(issuers))
	for i, e := range issuers {
		ids[i] = e.Issuer.ID
	}
	return ids
}

// Issuer returns the issuer with an identifier, a ticker or a name. It includes the
// latest reports if the caller may read reports.
func (q *Service) Issuer(s *catalog.Snapshot, id string, by access.Principal) (*Issuer, error) {
	out, err := q.issuer(s.Directory(), s, knownIssuer(s, id), by)
	if err != nil {
		return nil, err
	}
	out.ISINs = ISINs(s, out.ID, out.ISINs)
	return out, nil
}

// ISINs returns the ISINs that the directory has of an issuer and, after them, those that
// only the registers of positions have.
func ISINs(s *catalog.Snapshot, id string, listed []string) []string {
	all := slices.Clip(listed) // others share the list
	for _, isin := range s.Positions().ISINs(id) {
		if !slices.Contains(all, isin) {
			all = append(all, isin)
		}
	}
	return all
}

// knownIssuer returns what the directory knows an issuer by that is named by any of its
// identifiers. It returns what it does not know as it is.
func knownIssuer(s *catalog.Snapshot, name string) string {
	if len(name) > maxIssuerName {
		return name
	}
	if len(s.Lookup(name)) > 0 {
		return name
	}
	if id, ok := RegisteredIssuer(s, name); ok {
		return id
	}
	return name
}

// issuer returns an issuer of a directory with its reports in s, or without them if s
// is nil.
func (q *Service) issuer(dir *search.Directory, s *catalog.Snapshot, id string, by access.Principal) (*Issuer, error) {
	e, err := findIssuer(dir, id)
	if err != nil {
		return nil, err
	}
	out := q.newIssuer(dir, e.Issuer)
	if s == nil {
		return out, nil
	}
	reports := s.ReportsOf(e, latestReports)
	out.ReportCount = &reports.Total
	if !by.MayRead(access.ReadReports) {
		return out, nil
	}
	for _, f := range reports.Reports {
		out.Latest = append(out.Latest, f.AppendJSON(nil))
	}
	return out, nil
}

// newIssuer returns an issuer without its reports, and without the ids of others if
// dir is nil.
func (q *Service) newIssuer(dir *search.Directory, i *disclosure.Issuer) *Issuer {
	return &Issuer{
		ID:          i.ID,
		Name:        i.Name,
		CIF:         OrNull(i.CIF()),
		Ticker:      OrNull(i.Ticker),
		Market:      OrNull(i.Market),
		Kind:        OrNull(string(i.Kind)),
		ISINs:       list(i.ISINs),
		FormerNames: list(i.FormerNames),
		Aliases:     list(i.Aliases),
		Manager:     newParty(dir, i.Manager),
		Depositary:  newParty(dir, i.Depositary),
		LEI:         OrNull(i.LEI),
		Sector:      OrNull(i.Sector),
		Capital:     OrNull(i.Capital),
		Votes:       OrNull(i.VotingRights),
		VotesOn:     OrNull(i.VotingRightsOn),
		Latest:      []json.RawMessage{},
		Attribution: q.Attribution(),
	}
}

// findIssuer returns the issuer with an identifier, a ticker or a name.
func findIssuer(dir *search.Directory, id string) (*search.Issuer, error) {
	if len(id) > maxIssuerName {
		return nil, fault.New(fault.NotFound, "There is no issuer with that id. Ids are tax numbers such as "+
			"A69000016, and have %d bytes at most.", maxIssuerName)
	}
	e, unresolved := dir.Resolve(id)
	if unresolved != nil {
		return nil, fault.New(fault.NotFound, "%s", unresolved.Sentence)
	}
	return e, nil
}
