package disclosure

import (
	"slices"
	"strings"
)

// Kind is the kind of an issuer.
type Kind string

const (
	Company Kind = "company"
	Fund    Kind = "fund"
	Manager Kind = "manager"
	Other   Kind = "other"
)

// Kinds lists the kinds in the order in which they are displayed.
var Kinds = []Kind{Company, Fund, Manager, Other}

// ParseKind accepts a kind exactly as it is spelt.
func ParseKind(s string) (Kind, bool) {
	k := Kind(s)
	return k, slices.Contains(Kinds, k)
}

// Issuer is a supervised company, fund or manager. Its JSON form is what the store keeps,
// `export` writes and `import` reads.
type Issuer struct {
	// ID is the normal NIF where there is one, else register and number
	// ("fi-4720"), else the regulator's code. It never changes; identifiers
	// learnt later are aliases.
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	NIF         string   `json:"cif,omitempty"` // as the source prints it; see CIF
	Ticker      string   `json:"ticker,omitempty"`
	Market      string   `json:"market,omitempty"`
	Kind        Kind     `json:"kind,omitempty"`
	ISINs       []string `json:"isins,omitempty"`
	FormerNames []string `json:"former_names,omitempty"`
	Aliases     []string `json:"aliases,omitempty"`
	Manager     string   `json:"manager,omitempty"`    // name of the manager of a fund
	Depositary  string   `json:"depositary,omitempty"` // name of the depositary of its assets

	// What the regulator's page of general data and its register of holdings state. A
	// field that is not known is left out, so that the record of an issuer without these
	// has the same bytes as before there were any.
	LEI            string `json:"lei,omitempty"`
	Sector         string `json:"sector,omitempty"`           // as written, in Spanish
	Capital        string `json:"capital,omitempty"`          // in euros, a decimal with a point
	VotingRights   string `json:"voting_rights,omitempty"`    // their total number
	VotingRightsOn string `json:"voting_rights_on,omitempty"` // the day of the last change of that number
}

// CIF returns the tax number in its normal form, or "" if the key of the source
// does not have the form of one.
func (i *Issuer) CIF() string {
	nif, _ := ParseNIF(i.NIF)
	return string(nif)
}

// Keys returns all identifiers of the issuer.
func (i *Issuer) Keys() []string {
	keys := []string{i.ID}
	if key := IssuerKey(i.NIF); key != "" {
		keys = append(keys, key)
	}
	keys = append(keys, i.Aliases...)
	keys = append(keys, i.ISINs...)
	if i.LEI != "" {
		keys = append(keys, i.LEI)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// IssuerKey brings an identifier that a user typed into the form in which
// issuers are kept: a NIF in its normal form, a registration in lower case, an
// ISIN or an LEI in upper case.
func IssuerKey(s string) string {
	s = strings.TrimSpace(s)
	if !strings.ContainsAny(s, "0123456789") {
		return strings.ToLower(s) // no NIF, ISIN or LEI, as most words
	}
	if nif, ok := ParseNIF(s); ok {
		return string(nif)
	}
	if upper := strings.ToUpper(s); IsISIN(upper) || IsLEI(upper) {
		return upper
	}
	return strings.ToLower(s)
}

// IsISIN reports whether s has the shape of an ISIN: two letters, nine letters
// or digits, a digit.
func IsISIN(s string) bool {
	if len(s) != 12 || s[11] < '0' || s[11] > '9' {
		return false
	}
	for i := range 11 {
		letter := s[i] >= 'A' && s[i] <= 'Z'
		digit := s[i] >= '0' && s[i] <= '9'
		if !letter && (i < 2 || !digit) {
			return false
		}
	}
	return true
}

// Validate completes the id and returns an error that lists every invalid field
// of an issuer from outside.
func (i *Issuer) Validate() error {
	var bad problems
	bad.text("name", i.Name, true)
	bad.ident("cif", i.NIF)
	bad.ident("ticker", i.Ticker)
	bad.text("market", i.Market, false)
	bad.ident("id", i.ID)
	bad.text("manager", i.Manager, false)
	bad.text("depositary", i.Depositary, false)
	for _, name := range i.FormerNames {
		bad.text("former_names", name, true)
	}
	if i.Kind != "" && !slices.Contains(Kinds, i.Kind) {
		bad.add("kind", string(i.Kind), "use company, fund, manager or other")
	}
	for n, alias := range i.Aliases {
		bad.text("aliases", alias, true)
		bad.ident("aliases", alias)
		i.Aliases[n] = IssuerKey(alias)
	}
	for n, isin := range i.ISINs {
		i.ISINs[n] = strings.ToUpper(strings.TrimSpace(isin))
		if !IsISIN(i.ISINs[n]) {
			bad.add("isins", isin, "is not an ISIN")
		}
	}
	i.LEI = strings.ToUpper(strings.TrimSpace(i.LEI))
	if i.LEI != "" && !IsLEI(i.LEI) {
		bad.add("lei", i.LEI, "is not an LEI: one has 20 letters and digits, of which the last two are check digits")
	}
	bad.ident("sector", i.Sector)
	bad.decimal("capital", i.Capital, false)
	bad.decimal("voting_rights", i.VotingRights, false)
	bad.day("voting_rights_on", i.VotingRightsOn, false)
	if i.ID == "" {
		i.ID = IssuerKey(i.NIF)
	} else {
		i.ID = IssuerKey(i.ID)
	}
	if i.ID == "" {
		bad.add("id", "", "is missing, and there is no cif to take it from")
	}
	return bad.err("issuer")
}

// Merge applies a new observation to a known issuer and returns the names of the
// fields that changed. An empty field is unknown and changes nothing. A new name
// adds the old one to the former names. Lists only grow, except that the current
// name is removed from the former names.
func (i Issuer) Merge(observed Issuer) (merged Issuer, changed []string) {
	m := merge{}
	if observed.Name != "" && observed.Name != i.Name && i.Name != "" {
		observed.FormerNames = append(slices.Clone(observed.FormerNames), i.Name)
	}
	m.text("name", &i.Name, observed.Name)
	m.text("cif", &i.NIF, observed.NIF)
	m.text("ticker", &i.Ticker, observed.Ticker)
	m.text("market", &i.Market, observed.Market)
	m.text("kind", (*string)(&i.Kind), string(observed.Kind))
	m.list("isins", &i.ISINs, observed.ISINs)
	isNow := func(name string) bool { return name == i.Name } // the current name is not a former one
	if slices.ContainsFunc(i.FormerNames, isNow) {
		i.FormerNames = slices.DeleteFunc(slices.Clone(i.FormerNames), isNow)
		m.changed = append(m.changed, "former_names")
	}
	m.list("former_names", &i.FormerNames, slices.DeleteFunc(slices.Clone(observed.FormerNames), isNow))
	m.list("aliases", &i.Aliases, observed.Aliases)
	m.text("manager", &i.Manager, observed.Manager)
	m.text("depositary", &i.Depositary, observed.Depositary)
	m.text("lei", &i.LEI, observed.LEI)
	m.text("sector", &i.Sector, observed.Sector)
	m.text("capital", &i.Capital, observed.Capital)
	m.text("voting_rights", &i.VotingRights, observed.VotingRights)
	m.text("voting_rights_on", &i.VotingRightsOn, observed.VotingRightsOn)
	return i, m.changed
}

// list adds new values to a copy of a list, because the list may be shared.
func (m *merge) list(name string, have *[]string, observed []string) {
	grown := slices.Clone(*have)
	for _, s := range observed {
		if s != "" && !slices.Contains(grown, s) {
			grown = append(grown, s)
		}
	}
	if len(grown) > len(*have) {
		*have = grown
		if !slices.Contains(m.changed, name) {
			m.changed = append(m.changed, name)
		}
	}
}
