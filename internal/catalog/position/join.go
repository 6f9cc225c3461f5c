package position

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/text"
)

// join is what a directory makes of the references of a book.
type join struct {
	find   Find
	of     map[ref]joined
	groups map[string][]ref  // by the key of an issuer
	idents map[string]string // key by identifier, as the registers have them; "" if it is that of several
}

type joined struct {
	issuer *disclosure.Issuer // nil if it is not in the directory
	key    string
}

// newJoin finds the issuers of some references. Of one with the LEI of another one that
// was found, the issuer is the same: an issuer may have shares with several ISINs, of which
// a directory may know some.
func newJoin(find Find, refs []ref) *join {
	if find == nil {
		find = func(string) *disclosure.Issuer { return nil }
	}
	j := &join{
		find:   find,
		of:     make(map[ref]joined, len(refs)),
		groups: map[string][]ref{},
		idents: map[string]string{},
	}
	byLEI := map[string]*disclosure.Issuer{}
	ambiguous := map[string]bool{}
	for _, r := range refs {
		of := r.Value()
		i := of.find(find)
		if i == nil {
			continue
		}
		j.of[r] = joined{i, i.ID}
		if known := byLEI[of.lei]; known != nil && known.ID != i.ID {
			ambiguous[of.lei] = true
		}
		byLEI[of.lei] = i
	}
	for _, r := range refs {
		of := r.Value()
		found, ok := j.of[r]
		if i := byLEI[of.lei]; !ok && of.lei != "" && i != nil && !ambiguous[of.lei] {
			found = joined{i, i.ID}
			ok = true
		}
		if !ok {
			found = joined{nil, of.key()}
		}
		j.of[r] = found
		j.groups[found.key] = append(j.groups[found.key], r)
		j.idents[found.key] = found.key
		for _, ident := range of.idents() {
			if key, taken := j.idents[ident]; taken && key != found.key {
				j.idents[ident] = ""
				continue
			}
			j.idents[ident] = found.key
		}
	}
	return j
}

// find returns the issuer in a directory.
func (r reference) find(find Find) *disclosure.Issuer {
	for _, ident := range r.idents() {
		if i := find(ident); i != nil {
			return i
		}
	}
	return nil
}

// idents returns the identifiers of a reference, the most certain first.
func (r reference) idents() []string {
	idents := make([]string, 0, 4)
	for _, s := range []string{r.issuer, disclosure.IssuerKey(r.nif), r.lei, r.isin} {
		if s != "" {
			idents = append(idents, s)
		}
	}
	return idents
}

// id returns the id that the issuer would have in a directory, or "".
func (r reference) id() string { return cmp.Or(r.issuer, disclosure.IssuerKey(r.nif)) }

// key returns by which key an issuer is known that is not in the directory. Without an
// identifier, that is its name, which cannot be mistaken for an identifier.
func (r reference) key() string {
	return cmp.Or(r.lei, r.issuer, disclosure.IssuerKey(r.nif), r.isin, "\x00"+text.Fold(r.name))
}

func (j *join) has(r ref) bool {
	_, known := j.of[r]
	return known
}

func (j *join) issuer(r ref) *disclosure.Issuer { return j.of[r].issuer }

func (j *join) keyOf(r ref) string { return j.of[r].key }

func (j *join) key(ident string) (key string, ok bool) {
	ident = disclosure.IssuerKey(ident)
	if ident == "" {
		return "", false
	}
	if i := j.find(ident); i != nil {
		return i.ID, true
	}
	key = j.idents[ident]
	return key, key != ""
}

// isins returns the ISINs that the references to an issuer have, in order.
func (j *join) isins(key string) []string {
	var out []string
	for _, r := range j.groups[key] {
		if isin := r.Value().isin; isin != "" && !slices.Contains(out, isin) {
			out = append(out, isin)
		}
	}
	slices.Sort(out)
	return out
}

func (j *join) keys() iter.Seq[string] { return slices.Values(slices.Sorted(maps.Keys(j.groups))) }
