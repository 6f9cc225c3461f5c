package disclosure

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// FactKind is what a fact is about.
type FactKind string

// The kinds of facts.
const (
	Dividend          FactKind = "dividend"
	Meeting           FactKind = "meeting"
	Results           FactKind = "results"
	BuybackProgramme  FactKind = "buyback_programme"
	BuybackTrades     FactKind = "buyback_trades"
	VotingRights      FactKind = "voting_rights"
	Capital           FactKind = "capital"
	Suspension        FactKind = "suspension"
	Board             FactKind = "board"
	Rating            FactKind = "rating"
	Takeover          FactKind = "takeover"
	LiquidityContract FactKind = "liquidity_contract"
	Securitisation    FactKind = "securitisation_payment"
)

// AnyFact is a kind of filters only: it selects facts of all kinds.
const AnyFact FactKind = "any"

// factKinds has the fields of every kind, in the order in which they are shown. Lists
// and stored facts refer to kinds by their names, so that both may grow.
var factKinds = []struct {
	kind   FactKind
	fields []string
}{
	{Dividend, []string{"gross_per_share", "currency", "form", "ex_date", "record_date", "payment_date"}},
	{Meeting, []string{"meeting_kind", "first_call", "second_call"}},
	{Results, []string{"period", "revenue", "ebitda", "net_profit", "currency"}},
	{BuybackProgramme, []string{"event", "max_amount", "currency", "max_shares", "ends_on"}},
	{BuybackTrades, []string{"from", "to", "shares", "amount", "currency"}},
	{VotingRights, []string{"shares", "voting_rights", "capital", "currency", "as_of"}},
	{Capital, []string{"action", "new_shares", "amount", "price", "capital_after", "currency"}},
	{Suspension, []string{"action", "at"}},
	{Board, []string{"action", "person", "role", "effective"}},
	{Rating, []string{"agency", "action", "rating", "outlook"}},
	{Takeover, []string{"action", "bidder", "target", "price", "currency", "acceptance"}},
	{LiquidityContract, []string{"from", "to", "bought", "sold", "balance_shares", "balance_cash", "currency"}},
	{Securitisation, []string{"payment_date"}},
}

// FactKinds returns all kinds.
func FactKinds() []FactKind {
	kinds := make([]FactKind, len(factKinds))
	for i := range factKinds {
		kinds[i] = factKinds[i].kind
	}
	return kinds
}

// ParseFactKind reads the name of a kind.
func ParseFactKind(s string) (FactKind, bool) {
	k := FactKind(s)
	return k, slices.Contains(FactKinds(), k)
}

// Fields returns the names of the fields that a kind may have, in the order in which
// they are shown.
func (k FactKind) Fields() []string {
	for i := range factKinds {
		if factKinds[i].kind == k {
			return factKinds[i].fields
		}
	}
	return nil
}

// Fact is something that the document of a report states, found by rules. A field whose
// value is not certain is left out. Numbers are decimals with a point, in units; dates
// are YYYY-MM-DD, with T15:04 behind where the document gives the time.
type Fact struct {
	Kind   FactKind          `json:"kind"`
	Fields map[string]string `json:"fields"`
}

// FactDetail is what proves a fact, and the rows of its table. It may be large, so it is
// not part of the report: see Report.FactsDetail.
type FactDetail struct {
	Rows     []map[string]string `json:"rows,omitempty"`
	Evidence map[string]Quote    `json:"evidence"` // by the name of the field
}

// Quote is a place of a document: its exact words, and some of the text around them.
type Quote struct {
	Page   int    `json:"page"` // from 1
	Text   string `json:"quote"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Equal reports whether two facts state the same.
func (f Fact) Equal(other Fact) bool {
	if f.Kind != other.Kind || len(f.Fields) != len(other.Fields) {
		return false
	}
	for name, value := range f.Fields {
		if v, ok := other.Fields[name]; !ok || v != value {
			return false
		}
	}
	return true
}

// Amount returns the amount of a fact that filters compare, and its currency. It
// returns "" if the fact has none.
func (f Fact) Amount() (amount, currency string) {
	switch f.Kind {
	case BuybackProgramme:
		amount = f.Fields["max_amount"]
	case BuybackTrades, Capital:
		amount = f.Fields["amount"]
	}
	return amount, f.Fields["currency"]
}

// MaxFactsBytes is how many bytes the facts of a report may have as JSON: they are part
// of every event of the report, and of a leaf of the transparency log.
const MaxFactsBytes = 16 << 10

// The bounds of a fact.
const (
	maxFactName  = 40  // letters of the name of a kind or a field
	maxFactValue = 300 // bytes of a value
	maxRules     = 999_999_999
)

// WantsFacts reports whether the document is still to be examined by this version of the
// rules. Facts that were imported with the text have no details, and are found again.
func (r *Report) WantsFacts(rules int) bool {
	if r.Document.Status != DocumentReady {
		return false
	}
	lackDetail := len(r.Facts) > 0 && r.FactsDetail == ""
	return r.FactsRules < rules || r.FactsOf != r.Document.SHA256 || lackDetail
}

// ClipFacts returns the first facts that may be part of a report together.
func ClipFacts(facts []Fact) []Fact {
	size := len("[]")
	for i := range facts {
		size += len(factsJSON(facts[i : i+1])) // the brackets are more than the comma
		if size > MaxFactsBytes {
			return facts[:i]
		}
	}
	return facts
}

// AppendFacts appends the facts of a report as JSON: null if its document was not examined.
func (r *Report) AppendFacts(b []byte) []byte {
	switch {
	case r.FactsRules == 0:
		return append(b, "null"...)
	case len(r.Facts) == 0:
		return append(b, "[]"...)
	}
	return append(b, factsJSON(r.Facts)...)
}

func factsJSON(facts []Fact) []byte {
	b, err := json.Marshal(facts)
	if err != nil {
		panic(err) // texts can always be encoded
	}
	return b
}

// parseRules reads a version of the rules.
func parseRules(s string) (int, bool) {
	n, ok := ParseNumber(s)
	if !ok || n > maxRules {
		return 0, false
	}
	return int(n), true
}

func validFacts(p *problems, r *Report) {
	if len(r.Facts) == 0 {
		return
	}
	if size := len(factsJSON(r.Facts)); size > MaxFactsBytes {
		p.add("facts", "", "have "+strconv.Itoa(size)+" bytes as JSON, and may have "+strconv.Itoa(MaxFactsBytes))
	}
	for _, f := range r.Facts {
		f.validate(p)
	}
}

// Validate returns an error that lists every invalid name and value of a fact.
func (f Fact) Validate() error {
	var bad problems
	f.validate(&bad)
	return bad.err("fact")
}

func (f Fact) validate(p *problems) {
	validFactName(p, string(f.Kind))
	for _, field := range slices.Sorted(maps.Keys(f.Fields)) {
		validFactName(p, field)
		value := f.Fields[field]
		if len(value) > maxFactValue {
			p.add("facts", value, "is too long: a value has "+strconv.Itoa(maxFactValue)+" bytes at most")
			continue
		}
		p.text("facts", value, true)
	}
}

func validFactName(p *problems, s string) {
	forbidden := func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') }
	if s == "" || len(s) > maxFactName || strings.ContainsFunc(s, forbidden) {
		p.add("facts", s, "must be a kind or a field: small letters and _, "+strconv.Itoa(maxFactName)+" at most")
	}
}

// CompareDecimals compares two decimals that IsDecimal accepts. It returns a negative
// number if a is less than b.
func CompareDecimals(a, b string) int {
	a, negativeA := strings.CutPrefix(a, "-")
	b, negativeB := strings.CutPrefix(b, "-")
	magnitude := compareMagnitudes(a, b)
	switch {
	case isZero(a) && isZero(b):
		return 0
	case negativeA && negativeB:
		return -magnitude
	case negativeA:
		return -1
	case negativeB:
		return 1
	}
	return magnitude
}

func compareMagnitudes(a, b string) int {
	wholeA, fractionA, _ := strings.Cut(a, ".")
	wholeB, fractionB, _ := strings.Cut(b, ".")
	wholeA, wholeB = strings.TrimLeft(wholeA, "0"), strings.TrimLeft(wholeB, "0")
	if len(wholeA) != len(wholeB) {
		return len(wholeA) - len(wholeB)
	}
	if c := strings.Compare(wholeA, wholeB); c != 0 {
		return c
	}
	return strings.Compare(strings.TrimRight(fractionA, "0"), strings.TrimRight(fractionB, "0"))
}

func isZero(s string) bool { return strings.Trim(s, "0.") == "" }

// IsDecimal reports whether s is a decimal as the fields of facts have it: digits, a
// point between two of them at most, perhaps a minus before them.
func IsDecimal(s string) bool {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	return isDigits(whole) && (!point || isDigits(fraction))
}
