package disclosure

import "slices"

// Entries are what a watchlist names. They never change. A report or a position is selected
// if it is of one of the issuers, or if one of the filters selects it, and if all other
// conditions of the filter that has the entries are met too.
type Entries struct {
	Issuers []string // identifiers of issuers, as IssuerKey leaves them
	Filters []Filter // saved searches, which have no watchlists
	// Found are, at the places of the filters that search in documents, the documents with
	// their words. Without them, such a filter selects nothing in lists.
	Found []DocumentSet
}

// DocumentSet is a set of documents, by their numbers in this process.
type DocumentSet interface {
	Has(number uint32) bool
}

// InDocument reports whether a filter searches in documents.
func (e *Entries) InDocument() bool {
	return slices.ContainsFunc(e.Filters, func(f Filter) bool { return f.InDocument })
}

// InDocuments returns the documents with the words of a filter, by its place, or nil.
func (e *Entries) InDocuments(i int) DocumentSet {
	if i >= len(e.Found) {
		return nil
	}
	return e.Found[i]
}

// Searches returns the entries without issuers, and with the filters for which keep returns
// true.
func (e *Entries) Searches(keep func(Filter) bool) *Entries {
	out := &Entries{}
	for i, f := range e.Filters {
		if keep(f) {
			out.Filters = append(out.Filters, f)
			out.Found = append(out.Found, e.InDocuments(i))
		}
	}
	return out
}

// WithoutWords returns the filter without its words to search for.
func (f Filter) WithoutWords() Filter {
	f.Search = ""
	f.Widen = false
	f.InDocument = false
	return f
}

// HasSearch reports whether the filter, or one of its entries, has words to search for.
func (f Filter) HasSearch() bool {
	return f.Search != "" || f.Entries != nil && slices.ContainsFunc(f.Entries.Filters, Filter.HasSearch)
}

// HasList reports whether the filter has the condition of a watchlist.
func (f Filter) HasList() bool { return f.Watchlist != "" || f.Entries != nil }

// WithoutList returns the filter without the condition of a watchlist.
func (f Filter) WithoutList() Filter {
	f.Watchlist = ""
	f.Entries = nil
	return f
}
