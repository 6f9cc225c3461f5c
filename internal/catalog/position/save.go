package position

import (
	"encoding/json"
	"fmt"
	"slices"
	"unique"

	"pregon/internal/disclosure"
	"pregon/internal/search/saved"
)

// Save writes all positions. The name of a natural person is not written, since it could not
// be erased there: its seal is, and Open finds the name in the store by the seal.
func (b *Book) Save(e *saved.Encoder) error {
	texts := numbering[string]{at: map[string]uint64{}}
	refs := numbering[ref]{at: map[ref]uint64{}}
	for _, r := range b.refs {
		refs.of(r)
	}
	ordinals := make(map[*record]uint32, b.Len())
	var records saved.Encoder
	for r := range b.byID.all() {
		ordinals[r] = uint32(len(ordinals))
		seal, err := r.seal()
		if err != nil {
			return err
		}
		records.String(r.id)
		records.Uint(refs.of(r.ref))
		records.String(seal)
		if seal == "" {
			records.Uint(texts.of(r.name.Value()))
		}
		records.Uint(texts.of(r.source.Value()))
		records.Uint(texts.of(string(r.kind)))
		records.Uint(texts.of(string(r.state)))
		records.String(r.rest)
		records.String(r.percent)
		records.Int(r.firstSeen)
		records.Int(r.available)
		records.Int(int64(r.day))
		records.Int(int64(r.ended))
		records.Bool(r.natural)
		records.Bool(r.backfilled)
		r.sums.save(&records)
	}
	e.Strings(texts.all)
	e.Uint(uint64(len(refs.all)))
	for _, r := range refs.all {
		of := r.Value()
		for _, s := range []string{of.issuer, of.name, of.nif, of.lei, of.isin} {
			e.String(s)
		}
	}
	e.Uint(uint64(len(ordinals)))
	e.B = append(e.B, records.B...)
	for _, l := range []list{b.byKind, b.byRef} {
		order := make([]uint32, 0, l.n)
		for r := range l.all() {
			order = append(order, ordinals[r])
		}
		e.Uint32s(order)
	}
	return nil
}

// seal returns the seal of the name of a natural person, and "" if the record has a name
// that may be written, or none.
func (r *record) seal() (string, error) {
	if !r.natural || r.name.Value() == "" {
		return "", nil
	}
	var rest struct {
		Sealed string `json:"holder_sealed"`
	}
	if err := json.Unmarshal([]byte(r.rest), &rest); err != nil || rest.Sealed == "" {
		return "", fmt.Errorf("the name of the position %s is not sealed", r.id)
	}
	return rest.Sealed, nil
}

func (s *sums) save(e *saved.Encoder) {
	e.Bool(s != nil)
	if s == nil {
		return
	}
	for _, a := range append([]amount{s.all}, s.sides[:]...) {
		e.String(a.value)
		e.String(a.currency)
	}
	for _, has := range s.has {
		e.Bool(has)
	}
}

func openSums(d *saved.Decoder) *sums {
	if !d.Bool() {
		return nil
	}
	s := &sums{}
	s.all = amount{d.String(), d.String()}
	for i := range s.sides {
		s.sides[i] = amount{d.String(), d.String()}
	}
	for i := range s.has {
		s.has[i] = d.Bool()
	}
	return s
}

// Open reads the positions that Save wrote. Names are those of natural persons by their
// seals; one that is missing was erased.
func Open(d *saved.Decoder, names map[string]string, find Find) (*Book, error) {
	in := newOpener(d, names)
	records := make([]*record, d.Len(15))
	for i := range records {
		records[i] = in.record()
		if d.Err() != nil {
			return nil, d.Err()
		}
	}
	b := New(find)
	b.refs = in.refs
	b.join = newJoin(b.join.find, in.refs)
	ids := make([]uint32, len(records))
	for i := range ids {
		ids[i] = uint32(i)
	}
	for _, l := range []struct {
		list  *list
		order []uint32
	}{
		{&b.byID, ids},
		{&b.byKind, d.Uint32s()},
		{&b.byRef, d.Uint32s()},
	} {
		if err := l.list.fill(records, l.order); err != nil {
			return nil, err
		}
	}
	return b, d.Err()
}

// fill adds all records to an empty list, in an order that must be that of the list.
func (l *list) fill(records []*record, order []uint32) error {
	ordered := make([]*record, len(order))
	for i, n := range order {
		if int(n) >= len(records) {
			return errNumber
		}
		ordered[i] = records[n]
	}
	if len(ordered) != len(records) || !slices.IsSortedFunc(ordered, l.order) {
		return fmt.Errorf("saved positions are not in their order")
	}
	l.append(ordered)
	l.n = len(ordered)
	return nil
}

// opener reads records, which refer to texts and references by their numbers.
type opener struct {
	d       *saved.Decoder
	texts   []string
	handles []unique.Handle[string] // of texts that were used as handles before
	refs    []ref
	names   map[string]string // of natural persons, by their seals
}

// newOpener reads everything before the records.
func newOpener(d *saved.Decoder, names map[string]string) *opener {
	o := &opener{d: d, names: names}
	o.texts = d.Strings()
	o.handles = make([]unique.Handle[string], len(o.texts))
	o.refs = make([]ref, d.Len(5))
	for i := range o.refs {
		o.refs[i] = unique.Make(reference{
			issuer: d.String(),
			name:   d.String(),
			nif:    d.String(),
			lei:    d.String(),
			isin:   d.String(),
		})
	}
	return o
}

// record reads a record. Each is allocated by itself: a name that is erased later must be
// freed.
func (o *opener) record() *record {
	d := o.d
	r := &record{}
	r.id = d.String()
	r.ref = o.ref()
	if seal := d.String(); seal != "" {
		r.name = unique.Make(o.names[seal])
	} else {
		r.name = o.handle()
	}
	r.source = o.handle()
	r.kind = disclosure.PositionKind(shared(o.text()))
	r.state = disclosure.PositionState(shared(o.text()))
	r.rest = d.String()
	r.percent = d.String()
	r.firstSeen = d.Int()
	r.available = d.Int()
	r.day = disclosure.Day(d.Int())
	r.ended = disclosure.Day(d.Int())
	r.natural = d.Bool()
	r.backfilled = d.Bool()
	r.sums = openSums(d)
	return r
}

func (o *opener) ref() (none ref) {
	n := o.d.Uint()
	if n >= uint64(len(o.refs)) {
		o.d.Fail(errNumber)
		return none
	}
	return o.refs[n]
}

func (o *opener) text() string {
	n := o.d.Uint()
	if n >= uint64(len(o.texts)) {
		o.d.Fail(errNumber)
		return ""
	}
	return o.texts[n]
}

// handle reads a text as a handle, which is made once for each text.
func (o *opener) handle() (none unique.Handle[string]) {
	n := o.d.Uint()
	if n >= uint64(len(o.texts)) {
		o.d.Fail(errNumber)
		return none
	}
	if o.handles[n] == none {
		o.handles[n] = unique.Make(o.texts[n])
	}
	return o.handles[n]
}

var errNumber = fmt.Errorf("a saved position refers to a text or an issuer that was not saved")

// numbering numbers values in the order of their first use.
type numbering[T comparable] struct {
	at  map[T]uint64
	all []T
}

func (n *numbering[T]) of(v T) uint64 {
	at, known := n.at[v]
	if !known {
		at = uint64(len(n.all))
		n.at[v] = at
		n.all = append(n.all, v)
	}
	return at
}
