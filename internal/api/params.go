package api

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

const (
	defaultLimit = 10
	maxLimit     = 50
	maxPage      = 1<<31 - 1
)

// params reads the parameters of a request and gathers all that is wrong with
// them, so that a client mends everything at once. A parameter without a value
// is as if it were absent; unknown ones are ignored.
type params struct {
	values url.Values
	bad    []fault.Field
}

func readParams(r *http.Request) (*params, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.New(fault.Invalid,
			"The query string cannot be read: use & between parameters, and %%XX for what is not a letter or digit.")
	}
	return &params{values: values}, nil
}

func (p *params) refuse(name, value, reason string) {
	p.bad = append(p.bad, fault.Field{Name: name, Value: value, Reason: reason})
}

// text returns a parameter that may be given once.
func (p *params) text(name string) string {
	switch v := p.values[name]; len(v) {
	case 0:
		return ""
	case 1:
		return v[0]
	default:
		p.refuse(name, strings.Join(v, ", "), "may be given once only")
		return ""
	}
}

func (p *params) integer(name string, absent, least, most int) int {
	s := p.text(name)
	if s == "" {
		return absent
	}
	n, err := strconv.Atoi(s)
	if err != nil || s[0] == '+' || n < least || n > most {
		p.refuse(name, s, "must be a whole number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
		return absent
	}
	return n
}

func (p *params) day(name string) disclosure.Day {
	s := p.text(name)
	if s == "" {
		return 0
	}
	d, ok := disclosure.ParseDay(s)
	if !ok {
		p.refuse(name, s, "must be a date as YYYY-MM-DD, from 1900 on")
	}
	return d
}

func (p *params) kind() disclosure.Kind {
	s := p.text("kind")
	k, ok := disclosure.ParseKind(s)
	if !ok && s != "" {
		p.refuse("kind", s, "must be company, fund, manager or other")
	}
	return k
}

// filter reads the parameters of the common filter.
func (p *params) filter() disclosure.Filter {
	f := disclosure.Filter{
		Search: p.text("search"), Issuer: p.text("issuer"), Category: p.text("category"),
		From: p.day("from"), To: p.day("to"), Kind: p.kind(),
	}
	if s := p.text("type"); s != "" {
		t, ok := disclosure.ParseType(s)
		if !ok {
			p.refuse("type", s, "must be IP, HR or OIR, in upper case")
		}
		f.Type = t
	}
	if f.From != 0 && f.To != 0 && f.From > f.To {
		p.refuse("from", f.From.String(), "must not be later than to, "+f.To.String())
	}
	return f
}

// list reads the parameters of a list of reports.
func (p *params) list() (f disclosure.Filter, limit, page int) {
	return p.filter(), p.integer("limit", defaultLimit, 1, maxLimit), p.integer("page", 1, 1, maxPage)
}

// inside tells whether the search is to be in documents.
func (p *params) inside(f disclosure.Filter) bool {
	switch s := p.text("in"); s {
	case "":
		return false
	case inDocument:
		if f.Search == "" {
			p.refuse("search", "", "is needed with in=document: the words to look for")
		}
		return true
	default:
		p.refuse("in", s, "must be document, or be left out")
		return false
	}
}

// err tells everything that was wrong, or nothing.
func (p *params) err() error {
	if len(p.bad) == 0 {
		return nil
	}
	parts := make([]string, len(p.bad))
	for i, f := range p.bad {
		parts[i] = f.Name + " " + f.Reason
	}
	return &fault.Error{Kind: fault.Invalid, Message: strings.Join(parts, "; ") + ".", Fields: p.bad}
}
