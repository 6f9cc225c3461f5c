package search

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"pregon/internal/disclosure"
)

// Directory is every issuer, by all that names it. It never changes; a change
// of an issuer makes a new one.
type Directory struct {
	entities []*Entity
	byID     map[string]*Entity
	byKey    map[string][]*Entity // by any identifier
	byName   map[string]*Entity   // by folded name; nil where two share it
	clashes  map[*Entity]bool     // has an alias that is somebody else's id
	tickers  []ticker             // in order of their words
	stems    map[string][]*Entity // by the stem of a ticker of one word
	long     []*Entity            // with a ticker of several words
	index    *issuerIndex
}

type ticker struct {
	word   string
	entity *Entity
}

// NewDirectory makes a directory of issuers.
func NewDirectory(issuers []*Entity) *Directory {
	d := &Directory{
		entities: issuers,
		byID:     make(map[string]*Entity, len(issuers)),
		byKey:    make(map[string][]*Entity, 2*len(issuers)),
		byName:   make(map[string]*Entity, len(issuers)),
		stems:    map[string][]*Entity{},
		clashes:  map[*Entity]bool{},
	}
	for _, e := range d.entities {
		d.byID[e.Issuer.ID] = e
	}
	slices.SortFunc(d.entities, func(a, b *Entity) int {
		return cmp.Or(cmp.Compare(a.Folded, b.Folded), cmp.Compare(a.Issuer.ID, b.Issuer.ID))
	})
	for _, e := range d.entities {
		d.addKeys(e)
		if _, taken := d.byName[e.Folded]; taken {
			d.byName[e.Folded] = nil // two of one name: the name tells neither
		} else {
			d.byName[e.Folded] = e
		}
		d.addTicker(e)
	}
	slices.SortFunc(d.tickers, func(a, b ticker) int { return strings.Compare(a.word, b.word) })
	d.index = newIssuerIndex(d.entities)
	return d
}

// addKeys makes the issuer known by its identifiers. An id is nobody else's
// alias.
func (d *Directory) addKeys(e *Entity) {
	for _, key := range e.Issuer.Keys() {
		if other := d.byID[key]; other != nil && other != e {
			d.clashes[e] = true
			continue
		}
		d.byKey[key] = append(d.byKey[key], e)
	}
}

// keysOf returns the identifiers by which an issuer is found.
func (d *Directory) keysOf(e *Entity) []string {
	keys := e.Issuer.Keys()
	if !d.clashes[e] {
		return keys
	}
	return slices.DeleteFunc(keys, func(key string) bool { return d.byID[key] != nil && d.byID[key] != e })
}

func (d *Directory) addTicker(e *Entity) {
	switch words := Words(e.Issuer.Ticker); len(words) {
	case 0:
	case 1:
		d.tickers = append(d.tickers, ticker{words[0], e})
		d.stems[Stem(words[0])] = append(d.stems[Stem(words[0])], e)
	default:
		d.long = append(d.long, e)
	}
}

// Len returns the number of issuers.
func (d *Directory) Len() int { return len(d.entities) }

// Entities returns all issuers, by name. The slice is not to be changed.
func (d *Directory) Entities() []*Entity { return d.entities }

// Find returns an issuer by any of its identifiers, as a user typed it.
func (d *Directory) Find(key string) (*Entity, bool) {
	if found := d.byKey[disclosure.IssuerKey(key)]; len(found) > 0 {
		return found[0], true
	}
	return nil, false
}

// issuerOf joins a filing with its issuer: by its NIF or code, and only when it
// has none by exact name.
func (d *Directory) issuerOf(ref string) *Entity {
	if name, ok := strings.CutPrefix(ref, byNamePrefix); ok {
		return d.byName[name]
	}
	if found := d.byKey[ref]; len(found) > 0 {
		return found[0]
	}
	return nil
}

// byNamePrefix marks a reference that is a folded name. No key begins so.
const byNamePrefix = "\x00"

// refOf returns what a filing says of whose it is: the key of its NIF, else
// its folded name.
func refOf(r *disclosure.Report) string {
	if key := r.IssuerKey(); key != "" {
		return key
	}
	return byNamePrefix + Fold(r.CompanyName)
}

// withTicker returns the issuers whose ticker a term means.
func (d *Directory) withTicker(t term) []*Entity {
	var found []*Entity
	if len(t.words) == 1 {
		w := t.words[0]
		if !t.exact {
			found = append(found, d.stems[t.stem]...)
		}
		from := sort.Search(len(d.tickers), func(i int) bool { return d.tickers[i].word >= w })
		for _, tk := range d.tickers[from:] {
			if tk.word != w && !(t.prefix && strings.HasPrefix(tk.word, w)) {
				break
			}
			if !slices.Contains(found, tk.entity) {
				found = append(found, tk.entity)
			}
		}
	}
	t.ident = ""
	for _, e := range d.long {
		if doc := NewDocument(nil, e.Issuer.Ticker); t.in(&doc) {
			found = append(found, e)
		}
	}
	return found
}

// join is the directory as seen from the filings: whose each reference is.
type join struct {
	dir     *Directory
	refText []string             // what the filings say, by number of the reference
	issuers []*Entity            // whom that means; nil when unknown
	refs    map[*Entity][]uint32 // the references to each issuer
	numbers map[string]uint32    // of references, by their text
}

// newJoin resolves every reference.
func newJoin(dir *Directory, refs []string) *join {
	j := &join{dir: dir, refText: refs, issuers: make([]*Entity, len(refs)), refs: map[*Entity][]uint32{}, numbers: make(map[string]uint32, len(refs))}
	for n, ref := range refs {
		j.numbers[ref] = uint32(n)
		if e := dir.issuerOf(ref); e != nil {
			j.issuers[n] = e
			j.refs[e] = append(j.refs[e], uint32(n))
		}
	}
	return j
}

// named returns the references to all issuers that have an identifier, and the
// one of the filings that state it themselves.
func (j *join) named(key string) []uint32 {
	if strings.HasPrefix(key, byNamePrefix) {
		return nil // a name is not an identifier
	}
	var refs []uint32
	for _, e := range j.dir.byKey[key] {
		refs = append(refs, j.refs[e]...)
	}
	if n, ok := j.numbers[key]; ok && !slices.Contains(refs, n) {
		refs = append(refs, n)
	}
	return refs
}
