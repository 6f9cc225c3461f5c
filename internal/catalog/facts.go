package catalog

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"maps"
	"slices"
	"strings"

	"pregon/internal/disclosure"
)

// factNames are the names of the kinds of facts and of their fields. The records of
// this process have their numbers instead.
var factNames = func() (names []string) {
	for _, kind := range disclosure.FactKinds() {
		names = append(names, string(kind))
		names = append(names, kind.Fields()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}()

func hasFacts(r *disclosure.Report) bool {
	return len(r.Facts) > 0 || r.FactsRules != 0 || r.FactsOf != "" || r.FactsDetail != "" || !r.FactsReadyAt.IsZero()
}

// appendFacts appends the section of a record that has the facts, after its length:
//
//	rules   version of the rules, as all numbers a varint
//	count   number of facts
//	of      hash of the document: see appendHash
//	detail  hash of the details
//	ready   Unix microseconds
//	facts   of each: kind, number of fields + 1 or 0 for a nil map, and of each field name and text
//
// A kind and the name of a field is its number in factNames + 1, or 0 and the text.
func appendFacts(b []byte, r *disclosure.Report) []byte {
	s := binary.AppendUvarint(nil, uint64(r.FactsRules))
	s = binary.AppendUvarint(s, uint64(len(r.Facts)))
	s = appendHash(s, r.FactsOf, r.Document.SHA256)
	s = appendHash(s, r.FactsDetail, "")
	s = binary.AppendUvarint(s, uint64(micros(r.FactsReadyAt)))
	for _, f := range r.Facts {
		s = appendFactName(s, string(f.Kind))
		if f.Fields == nil {
			s = binary.AppendUvarint(s, 0)
			continue
		}
		s = binary.AppendUvarint(s, uint64(len(f.Fields))+1)
		for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
			s = appendFactName(s, name)
			s = appendText(s, f.Fields[name])
		}
	}
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendFactName(b []byte, name string) []byte {
	if n, ok := slices.BinarySearch(factNames, name); ok {
		return binary.AppendUvarint(b, uint64(n)+1)
	}
	return appendText(binary.AppendUvarint(b, 0), name)
}

// The forms of a hash in a section.
const (
	hashAsText = iota // its text, perhaps empty
	hashBytes         // its 32 bytes
	hashSame          // that of the document
)

// appendHash appends a hash. It takes one byte if it is that of the document.
func appendHash(b []byte, hash, document string) []byte {
	if hash != "" && hash == document {
		return append(b, hashSame)
	}
	raw, err := hex.DecodeString(hash)
	if err != nil || len(raw) != 32 || hex.EncodeToString(raw) != hash {
		return appendText(append(b, hashAsText), hash)
	}
	return append(append(b, hashBytes), raw...)
}

// factReader takes values off the front of a section.
type factReader struct{ rest string }

func (f *factReader) number() uint64 {
	// A number of this section has mostly one byte.
	if c := f.rest[0]; c < 0x80 {
		f.rest = f.rest[1:]
		return uint64(c)
	}
	n, size := binary.Uvarint([]byte(f.rest[:min(len(f.rest), binary.MaxVarintLen64)]))
	f.rest = f.rest[size:]
	return n
}

func (f *factReader) text() string {
	n := int(f.number())
	s := f.rest[:n]
	f.rest = f.rest[n:]
	return s
}

func (f *factReader) name() string {
	if n := f.number(); n > 0 {
		return factNames[n-1]
	}
	return f.text()
}

// hash returns a hash as it is written: its form, and its bytes or its text.
func (f *factReader) hash() (form byte, value string) {
	form = f.rest[0]
	f.rest = f.rest[1:]
	switch form {
	case hashSame:
		return form, ""
	case hashBytes:
		value = f.rest[:32]
		f.rest = f.rest[32:]
		return form, value
	}
	return form, f.text()
}

func hashText(form byte, value, document string) string {
	switch form {
	case hashSame:
		return document
	case hashBytes:
		return hex.EncodeToString([]byte(value))
	}
	return value
}

// factsHead is what a section has before the facts.
type factsHead struct {
	rules, count         uint64
	ofForm, detailForm   byte
	ofValue, detailValue string
	ready                uint64
}

func (f *factReader) head() (h factsHead) {
	h.rules = f.number()
	h.count = f.number()
	h.ofForm, h.ofValue = f.hash()
	h.detailForm, h.detailValue = f.hash()
	h.ready = f.number()
	return h
}

func (f *factReader) facts(count uint64) []disclosure.Fact {
	if count == 0 {
		return nil
	}
	out := make([]disclosure.Fact, count)
	for i := range out {
		out[i].Kind = disclosure.FactKind(f.name())
		fields := f.number()
		if fields == 0 {
			continue
		}
		out[i].Fields = make(map[string]string, fields-1)
		for range fields - 1 {
			name := f.name()
			out[i].Fields[name] = f.text()
		}
	}
	return out
}

// facts returns the facts of a record.
func (r record) facts() []disclosure.Fact {
	if r[40]&factsFlag == 0 {
		return nil
	}
	section, _ := cut(string(r[r.end():]))
	// A caller may keep a value. It would otherwise keep the records of many reports.
	reader := factReader{strings.Clone(section)}
	head := reader.head()
	return reader.facts(head.count)
}

// countFacts returns how many facts of a kind a record has. It decodes no values: the total
// of a list counts the facts of all reports.
func (r record) countFacts(kind disclosure.FactKind) (n int) {
	if r[40]&factsFlag == 0 {
		return 0
	}
	section, _ := cut(string(r[r.end():]))
	reader := factReader{section}
	head := reader.head()
	if kind == disclosure.AnyFact {
		return int(head.count)
	}
	for range head.count {
		if reader.name() == string(kind) {
			n++
		}
		for range max(reader.number(), 1) - 1 {
			reader.name()
			reader.text()
		}
	}
	return n
}

// mayWantFacts reports whether the document of a record may be one that these rules have
// not examined. It decodes almost nothing, and so it is also true for some others.
func (r record) mayWantFacts(rules int) bool {
	rest := string(r[r.end():])
	if r[40]&factsFlag != 0 {
		var section string
		section, rest = cut(rest)
		reader := factReader{section}
		head := reader.head()
		isProved := head.count == 0 || head.detailForm == hashBytes
		if int(head.rules) >= rules && head.ofForm == hashSame && isProved {
			return false
		}
	}
	if r[40]&extrasFlag == 0 {
		return false
	}
	extras, _ := cut(rest)
	return strings.Contains(extras, `"status":"`+string(disclosure.DocumentReady)+`"`)
}

// readFacts sets the fields of a report that appendFacts wrote. The document of the
// report is set before.
func readFacts(section string, r *disclosure.Report) {
	reader := factReader{strings.Clone(section)}
	head := reader.head()
	r.FactsRules = int(head.rules)
	r.FactsOf = hashText(head.ofForm, head.ofValue, r.Document.SHA256)
	r.FactsDetail = hashText(head.detailForm, head.detailValue, "")
	r.FactsReadyAt = instant(head.ready)
	r.Facts = reader.facts(head.count)
}

// factsOf returns the facts of a record of the index.
func factsOf(r string) []disclosure.Fact { return record(r).facts() }

// FactOf is a fact of a report.
type FactOf struct {
	Report Report
	Fact   disclosure.Fact
	Index  int // of the fact among those of the report
}

// FactPage is one page of a list of facts, with the total number of facts.
type FactPage struct {
	Total int
	Facts []FactOf
}

// Facts returns a page of the facts that match a filter with a kind of facts, those of
// the newest report first. Of their reports, it considers those that accept, if not nil,
// returns true for.
func (s *Snapshot) Facts(
	ctx context.Context,
	f disclosure.Filter,
	accept func(Report) bool,
	page, limit int,
) (FactPage, error) {
	var out FactPage
	first := (int64(page) - 1) * int64(limit)
	err := s.eachReport(ctx, f, accept, func(r Report) {
		if f.MinAmount == "" {
			n := r.record().countFacts(f.Fact)
			if int64(out.Total+n) <= first || len(out.Facts) == limit { // not on the page
				out.Total += n
				return
			}
		}
		for i, fact := range r.Facts() {
			if !f.MatchFact(fact) {
				continue
			}
			if int64(out.Total) >= first && len(out.Facts) < limit {
				out.Facts = append(out.Facts, FactOf{r, fact, i})
			}
			out.Total++
		}
	})
	return out, err
}

// LargestFacts is like Facts, but the largest amount comes first. Facts without an amount
// in the currency are left out.
func (s *Snapshot) LargestFacts(
	ctx context.Context,
	f disclosure.Filter,
	currency string,
	accept func(Report) bool,
	page, limit int,
) (FactPage, error) {
	var all []FactOf
	err := s.eachReport(ctx, f, accept, func(r Report) {
		for i, fact := range r.Facts() {
			amount, in := fact.Amount()
			if f.MatchFact(fact) && in == currency && disclosure.IsDecimal(amount) {
				all = append(all, FactOf{r, fact, i})
			}
		}
	})
	slices.SortStableFunc(all, func(a, b FactOf) int {
		amountA, _ := a.Fact.Amount()
		amountB, _ := b.Fact.Amount()
		return disclosure.CompareDecimals(amountB, amountA)
	})
	out := FactPage{Total: len(all)}
	if skip := (int64(page) - 1) * int64(limit); skip < int64(len(all)) {
		out.Facts = all[skip:min(int64(len(all)), skip+int64(limit))]
	}
	return out, err
}

// WithFact returns the reports that state a fact of a kind, newest first.
func (s *Snapshot) WithFact(kind disclosure.FactKind) iter.Seq[Report] {
	// fails only with a search text
	docs, _ := s.index.Walk(context.Background(), disclosure.Filter{Fact: kind})
	return func(yield func(Report) bool) {
		for d := range docs {
			if !yield(Report{d, s}) {
				return
			}
		}
	}
}

// EachReport calls visit for all reports that match a filter, newest first.
func (s *Snapshot) EachReport(ctx context.Context, f disclosure.Filter, visit func(Report)) error {
	return s.eachReport(ctx, f, nil, visit)
}

// eachReport calls visit for all reports that match a filter and that accept, if not nil,
// returns true for.
func (s *Snapshot) eachReport(
	ctx context.Context,
	f disclosure.Filter,
	accept func(Report) bool,
	visit func(Report),
) error {
	docs, err := s.index.Walk(ctx, f)
	if err != nil {
		return err
	}
	n := 0
	for d := range docs {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r := Report{d, s}
		if accept == nil || accept(r) {
			visit(r)
		}
	}
	return ctx.Err()
}

// checkEvery is the number of reports between two checks of a context.
const checkEvery = 1024
