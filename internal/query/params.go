package query

import (
	"net/url"
	"strconv"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/text"
)

// The bounds of lists.
const (
	DefaultLimit = 10
	MaxLimit     = 50
	MaxPage      = 1<<31 - 1
)

// Params reads the parameters of a question and gathers all that is wrong with
// them, so that a client mends everything at once. A parameter without a value
// is as if it were absent; unknown ones are ignored.
type Params struct {
	values url.Values
	bad    []fault.Field
}

// ParseQuery reads the parameters of an address.
func ParseQuery(raw string) (*Params, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, fault.New(fault.Invalid,
			"The query string cannot be read: use & between parameters, and %%XX for what is not a letter or digit.")
	}
	return NewParams(values), nil
}

// NewParams reads parameters by their names.
func NewParams(values url.Values) *Params { return &Params{values: values} }

// Give has others read, beside what was found wrong so far.
func (p *Params) SetValues(values url.Values) { p.values = values }

// Refuse notes that a parameter is not good.
func (p *Params) Reject(name, value, reason string) {
	p.bad = append(p.bad, fault.Field{Name: name, Value: value, Reason: reason})
}

// Text returns a parameter that may be given once.
func (p *Params) Text(name string) string {
	switch v := p.values[name]; len(v) {
	case 0:
		return ""
	case 1:
		return v[0]
	default:
		p.Reject(name, strings.Join(v, ", "), "may be given once only")
		return ""
	}
}

// Bounded returns a text of so many bytes at most.
func (p *Params) LimitedText(name string, most int) string {
	s := p.Text(name)
	if len(s) > most {
		p.Reject(name, s, "may have "+strconv.Itoa(most)+" bytes at most")
		return ""
	}
	return s
}

// Integer returns a whole number, within bounds.
func (p *Params) Integer(name string, absent, least, most int) int {
	s := p.Text(name)
	if s == "" {
		return absent
	}
	n, err := strconv.Atoi(s)
	if err != nil || s[0] == '+' || n < least || n > most {
		p.Reject(name, s, "must be a whole number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
		return absent
	}
	return n
}

// Day returns a Madrid day, zero when there is none.
func (p *Params) Day(name string) disclosure.Day {
	s := p.Text(name)
	if s == "" {
		return 0
	}
	d, ok := disclosure.ParseDay(s)
	if !ok {
		p.Reject(name, s, "must be a date as YYYY-MM-DD, from 1900 on")
	}
	return d
}

// Kind returns a kind of issuer.
func (p *Params) Kind() disclosure.Kind {
	s := p.Text("kind")
	k, ok := disclosure.ParseKind(s)
	if !ok && s != "" {
		p.Reject("kind", s, "must be company, fund, manager or other")
	}
	return k
}

// MostSearch is how many bytes a search text may have. An address has no room
// for more; the arguments of a tool would.
const MaxSearch = 64 << 10

// Search returns a text to search for, nothing when it is blank.
func (p *Params) Search() string {
	s := p.LimitedText("search", MaxSearch)
	switch {
	case text.Wordless(s):
		p.Reject("search", s, "has no word to search for: give letters or digits, or leave it out")
	case strings.TrimSpace(s) == "":
		return ""
	}
	return s
}

// LiveFilter reads the common filter for a caller that follows changes.
func (p *Params) LiveFilter(s *catalog.Snapshot) disclosure.Filter {
	if in := p.Text("in"); in != "" {
		p.Reject("in", in, "is for lists: what documents say is not followed")
	}
	return p.Filter(s)
}

// issuer reads the name of an issuer that is known.
func (p *Params) issuer(s *catalog.Snapshot) string {
	name := p.LimitedText("issuer", maxIssuerName)
	if strings.TrimSpace(name) == "" {
		return ""
	}
	key, reason := IssuerKey(s, name)
	if reason != "" {
		p.Reject("issuer", name, reason)
	}
	return key
}

// Filter reads the parameters of the common filter, with the issuers of a
// snapshot.
func (p *Params) Filter(s *catalog.Snapshot) disclosure.Filter {
	f := disclosure.Filter{
		Search: p.Search(), Issuer: p.issuer(s), Category: p.Text("category"),
		From: p.Day("from"), To: p.Day("to"), Kind: p.Kind(),
	}
	if text := p.Text("type"); text != "" {
		t, ok := disclosure.ParseType(text)
		if !ok {
			p.Reject("type", text, "must be IP, HR or OIR, in upper case")
		}
		f.Type = t
	}
	if f.From != 0 && f.To != 0 && f.From > f.To {
		p.Reject("from", f.From.String(), "must not be later than to, "+f.To.String())
	}
	return f
}

// Good reports whether nothing was wrong so far.
func (p *Params) Valid() bool { return len(p.bad) == 0 }

// Err tells everything that was wrong, or nothing.
func (p *Params) Err() error {
	if len(p.bad) == 0 {
		return nil
	}
	parts := make([]string, len(p.bad))
	for i, f := range p.bad {
		parts[i] = f.Name + " " + f.Reason
	}
	return &fault.Error{Kind: fault.Invalid, Message: strings.Join(parts, "; ") + ".", Fields: p.bad}
}
