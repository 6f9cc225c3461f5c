package catalog

import (
	"cmp"
	"maps"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// builder makes the next snapshot out of the last one and what changed.
type builder struct {
	last    *Snapshot
	reports map[string]*disclosure.Report
	issuers map[string]*disclosure.Issuer
}

func newBuilder(last *Snapshot) *builder {
	if last == nil {
		last = &Snapshot{}
	}
	return &builder{last: last, reports: map[string]*disclosure.Report{}, issuers: map[string]*disclosure.Issuer{}}
}

// add notes a change; a later one of the same subject replaces an earlier.
func (b *builder) add(c disclosure.Change) {
	if c.Report != nil {
		b.reports[c.Report.ID] = c.Report
	} else {
		b.issuers[c.Issuer.ID] = c.Issuer
	}
}

func (b *builder) build(seq int64) *Snapshot {
	next := &Snapshot{
		seq: seq, filings: b.last.filings, byID: b.last.byID,
		entities: b.last.entities, byKey: b.last.byKey, byName: b.last.byName,
	}
	if len(b.issuers) > 0 {
		b.directory(next)
	}
	if len(b.reports) > 0 || len(b.issuers) > 0 {
		b.filings(next)
	}
	return next
}

// directory rebuilds the issuers with the changed ones in their places.
func (b *builder) directory(next *Snapshot) {
	next.entities = slices.DeleteFunc(slices.Clone(b.last.entities), func(e *search.Entity) bool {
		return b.issuers[e.Issuer.ID] != nil
	})
	for _, i := range b.issuers {
		next.entities = append(next.entities, search.NewEntity(i))
	}
	slices.SortFunc(next.entities, compareEntities)

	next.byKey = make(map[string]*search.Entity, 2*len(next.entities))
	next.byName = make(map[string]*search.Entity, len(next.entities))
	for _, e := range next.entities {
		for _, key := range e.Issuer.Keys() {
			if next.byKey[key] == nil {
				next.byKey[key] = e
			}
		}
		if _, taken := next.byName[e.Folded]; taken {
			next.byName[e.Folded] = nil // two of one name: the name tells neither
		} else {
			next.byName[e.Folded] = e
		}
	}
	for _, e := range next.entities { // an id always wins over an alias
		next.byKey[e.Issuer.ID] = e
	}
}

// filings lays the changed reports over the last ones and joins with the
// directory those that are new or whose issuer changed.
func (b *builder) filings(next *Snapshot) {
	next.filings = make([]*search.Filing, 0, len(b.last.filings)+len(b.reports))
	for _, f := range b.last.filings {
		if b.reports[f.Report.ID] != nil {
			continue
		}
		if issuer := next.issuerOf(f.Report); issuer != f.Issuer {
			f = search.NewFiling(f.Report, issuer)
		}
		next.filings = append(next.filings, f)
	}
	for _, r := range b.reports {
		next.filings = append(next.filings, search.NewFiling(r, next.issuerOf(r)))
	}
	slices.SortFunc(next.filings, func(a, b *search.Filing) int {
		return disclosure.CompareReports(a.Report, b.Report)
	})
	next.byID = maps.Clone(b.last.byID)
	if next.byID == nil {
		next.byID = make(map[string]*search.Filing, len(next.filings))
	}
	for _, f := range next.filings {
		next.byID[f.Report.ID] = f
	}
}

func compareEntities(a, b *search.Entity) int {
	return cmp.Or(cmp.Compare(a.Folded, b.Folded), cmp.Compare(a.Issuer.ID, b.Issuer.ID))
}
