package watchlist

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
)

// Limits. Those of lists and entries are the defaults of Options.
const (
	DefaultLists   = 20
	DefaultEntries = 500

	// MostSearches is how many entries of a list may be saved searches. Each is
	// matched with every change.
	MostSearches = 50
	// MostInDocuments is how many of these may search in documents, which a request for the
	// list searches one after the other.
	MostInDocuments = 10

	maxName     = 100    // characters
	maxIssuer   = 200    // bytes of an identifier
	maxSearches = 20_000 // characters in the saved searches of an account together
)

// check brings a draft into its normal form and returns an error if it is not valid. A
// list that is longer than is allowed now may become shorter.
func (r *Registry) check(d *Draft, before int) error {
	d.Name = strings.TrimSpace(d.Name)
	if reason := checkName(d.Name); reason != "" {
		return fault.InvalidField("name", "", "%s", reason)
	}
	if d.Name == "" {
		return fault.InvalidField("name", "", "must say what the list is for")
	}
	if err := d.checkIssuers(); err != nil {
		return err
	}
	if err := d.checkSearches(); err != nil {
		return err
	}
	if n := d.Len(); n > r.o.MaxEntries && n > before {
		return fault.InvalidField("issuers", "", "would bring the list to %d entries, and %d are allowed: "+
			"remove some, or begin another list", n, r.o.MaxEntries)
	}
	return nil
}

// checkName returns why a name is not valid, and nothing if it is.
func checkName(name string) string {
	switch {
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Sprintf("may have %d characters at most", maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "must be plain text on one line"
	}
	return ""
}

// checkIssuers leaves each issuer once.
func (d *Draft) checkIssuers() error {
	seen := map[string]bool{}
	kept := make([]string, 0, len(d.Issuers))
	for _, issuer := range d.Issuers {
		key := disclosure.IssuerKey(issuer)
		switch {
		case key == "" || !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl):
			return fault.InvalidField("issuers", "", "must be identifiers of issuers")
		case len(key) > maxIssuer:
			return fault.InvalidField("issuers", "", "may have %d bytes each at most", maxIssuer)
		case seen[key]:
			continue
		}
		seen[key] = true
		kept = append(kept, key)
	}
	d.Issuers = kept
	return nil
}

func (d *Draft) checkSearches() error {
	if n := len(d.Filters); n > MostSearches {
		return fault.InvalidField("filters", "", "has %d saved searches, and %d are allowed in a list", n, MostSearches)
	}
	inDocuments := 0
	kept := make([]SavedSearch, 0, len(d.Filters))
	for i, s := range d.Filters {
		field := fmt.Sprintf("filters[%d]", i)
		s.Name = strings.TrimSpace(s.Name)
		if reason := checkName(s.Name); reason != "" {
			return fault.InvalidField(field+".name", "", "%s", reason)
		}
		switch {
		case s.Filter == disclosure.Filter{}:
			return fault.InvalidField(field, "", "selects everything: give it a condition")
		case s.Filter.Watchlist != "" || s.Filter.Entries != nil:
			return fault.InvalidField(field, "", "must not name a watchlist: a saved search cannot use one")
		}
		if reason := events.FilterError(s.Filter); reason.Format != "" {
			return fault.InvalidField(field, s.Filter.Search, "%s", reason)
		}
		if s.Filter.InDocument {
			inDocuments++
		}
		if inDocuments > MostInDocuments {
			return fault.InvalidField(field, s.Filter.Search, "searches in documents: a list may have at most %d "+
				"searches of this kind", MostInDocuments)
		}
		same := func(other SavedSearch) bool { return other.Filter == s.Filter }
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, s)
		}
	}
	d.Filters = kept
	return nil
}

// checkSearchesOf rejects saved searches if all of the account are too long together,
// since each may be matched with every change.
func (r *Registry) checkSearchesOf(account, id string, d *Draft, before int) error {
	n := searchLength(d)
	if n <= before {
		return nil
	}
	for _, e := range r.known.Load().accounts[account] {
		if e.ID != id {
			n += searchLength(&e.Draft)
		}
	}
	if n <= maxSearches {
		return nil
	}
	return fault.InvalidField("filters", "", "brings the saved searches of all your lists to %d characters, and %d "+
		"are allowed: shorten some, or remove one", n, maxSearches)
}

// searchLength returns the number of characters in the saved searches of a list.
func searchLength(d *Draft) (n int) {
	for _, s := range d.Filters {
		n += events.FilterLength(s.Filter)
	}
	return n
}

func (r *Registry) tooMany() error {
	return fault.New(fault.Conflict, "The limit of %d watchlists for an account is reached: delete one.", r.o.MaxLists)
}
