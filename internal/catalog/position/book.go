// Package position is the read model of positions: every entry of the registers of net
// short positions, significant holdings, own shares and managers' dealings, in memory.
//
// A Book is immutable. The next one, after some changes, shares almost all of its memory
// with the one before. The issuer of a position is found when it is read, with the
// directory of the book, so that a directory that learns an identifier later finds it for
// earlier positions too.
package position

import (
	"iter"
	"slices"

	"pregon/internal/disclosure"
)

// Book is all positions as of one seq. It never changes.
type Book struct {
	byID   list
	byKind list // by kind, the newest day first
	byRef  list // by reference to an issuer, then as byKind
	refs   []ref
	join   *join
}

// Find returns the issuer of a directory with an identifier, or nil.
type Find func(key string) *disclosure.Issuer

// New returns an empty book. A nil find means that no issuer is known.
func New(find Find) *Book {
	return &Book{
		byID:   list{order: compareIDs},
		byKind: list{order: compareKinds},
		byRef:  list{order: compareRefs},
		join:   newJoin(find, nil),
	}
}

// Next returns the book after some changes. Changes of reports and issuers are ignored. Of
// several changes of one position, the last one counts.
func (b *Book) Next(changes []disclosure.Change) *Book {
	var l Loader
	l.Add(changes)
	added := l.records
	if len(added) == 0 {
		return b
	}
	var removed []*record
	for _, r := range added {
		if old := b.byID.find(r); old != nil {
			removed = append(removed, old)
		}
	}
	return b.edit(removed, added)
}

// Loader collects many positions, of which Book makes a book at once.
type Loader struct {
	records []*record
	at      map[string]int // by id
}

// Add adds the positions of some changes. Of several changes of one position, the last one
// counts.
func (l *Loader) Add(changes []disclosure.Change) {
	for i := range changes {
		if changes[i].Position == nil {
			continue
		}
		if l.at == nil {
			l.at = map[string]int{}
		}
		r := newRecord(&changes[i])
		if n, known := l.at[r.id]; known {
			l.records[n] = r
			continue
		}
		l.at[r.id] = len(l.records)
		l.records = append(l.records, r)
	}
}

// Book returns the book of all positions that were added.
func (l *Loader) Book(find Find) *Book { return New(find).edit(nil, l.records) }

// Join returns the same positions with another directory.
func (b *Book) Join(find Find) *Book {
	next := *b
	next.join = newJoin(find, b.refs)
	return &next
}

// Former returns a past state: the positions without some, which did not exist then or have
// changed since, but with the former states of those that have changed.
func (b *Book) Former(drop []string, former []disclosure.Change, find Find) *Book {
	var removed, added []*record
	for _, id := range drop {
		if old := b.byID.find(&record{id: id}); old != nil {
			removed = append(removed, old)
		}
	}
	for i := range former {
		if former[i].Position != nil {
			added = append(added, newRecord(&former[i]))
		}
	}
	return b.edit(removed, added).Join(find)
}

func (b *Book) edit(removed, added []*record) *Book {
	next := &Book{
		byID:   b.byID.edit(removed, added),
		byKind: b.byKind.edit(removed, added),
		byRef:  b.byRef.edit(removed, added),
		refs:   b.refs,
		join:   b.join,
	}
	var fresh []ref
	seen := map[ref]bool{}
	for _, r := range added {
		if !b.join.has(r.ref) && !seen[r.ref] {
			seen[r.ref] = true
			fresh = append(fresh, r.ref)
		}
	}
	if len(fresh) > 0 {
		next.refs = slices.Concat(b.refs, fresh)
		next.join = newJoin(b.join.find, next.refs)
	}
	return next
}

// Len returns the number of positions.
func (b *Book) Len() int { return b.byID.n }

// Get returns the position with an id.
func (b *Book) Get(id string) (Entry, bool) {
	r := b.byID.find(&record{id: id})
	return Entry{r, b}, r != nil
}

// All returns the positions of a kind, the newest first.
func (b *Book) All(kind disclosure.PositionKind) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		c := b.byKind.from(&record{kind: kind, day: lastDay, id: lastID})
		for r := c.next(); r != nil && r.kind == kind; r = c.next() {
			if !yield(Entry{r, b}) {
				return
			}
		}
	}
}

// Of returns the positions of an issuer and a kind, the newest first. The key is that of
// Key.
func (b *Book) Of(key string, kind disclosure.PositionKind) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		m := b.ofIssuer(key, []disclosure.PositionKind{kind})
		for r := m.next(); r != nil; r = m.next() {
			if !yield(Entry{r, b}) {
				return
			}
		}
	}
}

// Key returns by which key a book knows the issuer with an identifier: its id in the
// directory or, if it is not there, an identifier that the registers have. ok is false if
// neither knows it.
func (b *Book) Key(ident string) (key string, ok bool) { return b.join.key(ident) }

// ISINs returns the ISINs of an issuer that the registers have. The key is that of Key.
func (b *Book) ISINs(key string) []string { return b.join.isins(key) }

// Issuers returns the keys of all issuers with positions.
func (b *Book) Issuers() iter.Seq[string] { return b.join.keys() }

// Entry is one position of a book.
type Entry struct {
	r  *record
	of *Book
}

// ID returns its id.
func (e Entry) ID() string { return e.r.id }

// Kind returns its kind.
func (e Entry) Kind() disclosure.PositionKind { return e.r.kind }

// Name returns the name of the position as written, empty if it was erased.
func (e Entry) Name() string { return e.r.name.Value() }

// Natural reports whether its name may be that of a natural person.
func (e Entry) Natural() bool { return e.r.natural }

// Percent returns its percentage in total.
func (e Entry) Percent() string { return e.r.percent }

// Day returns the day by which positions are ordered.
func (e Entry) Day() disclosure.Day { return e.r.day }

// State returns its state.
func (e Entry) State() disclosure.PositionState { return e.r.state }

// Issuer returns its issuer in the directory, or nil.
func (e Entry) Issuer() *disclosure.Issuer { return e.of.join.issuer(e.r.ref) }

// IssuerKey returns the key of its issuer: see Book.Key.
func (e Entry) IssuerKey() string { return e.of.join.keyOf(e.r.ref) }

// IssuerID returns the id of its issuer: that in the directory, else the one it would have
// there, else "".
func (e Entry) IssuerID() string {
	if i := e.Issuer(); i != nil {
		return i.ID
	}
	return e.r.ref.Value().id()
}

// Decode returns the position. Its issuer is that of IssuerID.
func (e Entry) Decode() *disclosure.Position {
	p := e.r.decode()
	p.Issuer = e.IssuerID()
	return p
}

// Stored returns the position as the log has it.
func (e Entry) Stored() *disclosure.Position { return e.r.decode() }
