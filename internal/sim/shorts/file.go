package shorts

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/paper/xls"
)

// File is the workbook at a time.
type File struct {
	Body     []byte
	ETag     string
	Modified time.Time
}

// At returns the workbook as it is at a time, or was at the last one that was asked
// for, if that was later.
func (r *Register) At(now time.Time) (File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance(now)
	if r.file != nil && r.made == r.published {
		return *r.file, nil
	}
	body, err := xls.Book(r.sheets())
	if err != nil {
		return File{}, err
	}
	r.file = &File{Body: body, ETag: r.etag(), Modified: r.now.UTC().Truncate(time.Second)}
	r.made = r.published
	return *r.file, nil
}

// Before returns the workbook as it was at an earlier time.
func (r *Register) Before(then time.Time) (File, error) { return New(r.o).At(then) }

// headers are those of all sheets with positions.
var headers = []any{
	"LEI",
	"ISIN",
	"Emisor / Issuer",
	"Tenedor de la Posición / Position holder",
	"Fecha posición / Position date",
	"Posición corta (%) / Net short position (%)",
}

// sheets returns the sheets of the workbook. The caller holds mu.
func (r *Register) sheets() []xls.Sheet {
	day := disclosure.DayOf(r.now)
	start := [][]any{nil, nil, nil, headers}
	current, series, previous := slices.Clone(start), slices.Clone(start), slices.Clone(start)
	for _, p := range r.sorted() {
		last := len(p.notices) - 1
		for n := last; n >= 0; n-- {
			row := r.row(p, n)
			inSeries := p.current && n >= p.since
			if p.current && n == last {
				current = append(current, row)
			}
			if inSeries {
				series = append(series, row)
			}
			if odd := r.oddity(p, n); !inSeries || n < last && odd%3 == 0 {
				previous = append(previous, row)
				if odd%7 == 0 {
					previous = append(previous, row) // twice, as the real one has it
				}
			}
		}
	}
	book := []xls.Sheet{
		{Name: "Fecha_-_Date", Rows: [][]any{nil, {nil, "Fecha de Publicación"}, {nil, "Date of publication"}, {nil, padded(day)}}},
		{Name: "Última_-_Current", Rows: current},
		{Name: "Serie_-_Series", Rows: series},
		{Name: "Anteriores_-_Previous", Rows: previous},
	}
	for _, name := range []string{"Hoja2", "Hoja3", "Hoja4", "Hoja5", "Hoja6", "Hoja7"} {
		book = append(book, xls.Sheet{Name: name})
	}
	return book
}

// sorted returns the pairs by issuer and holder, as the sheets have them.
func (r *Register) sorted() []*pair {
	return slices.SortedFunc(slices.Values(r.pairs), func(a, b *pair) int {
		s, t := r.shares[a.share], r.shares[b.share]
		return strings.Compare(s.issuer+"\x00"+s.isin+"\x00"+r.holders[a.holder], t.issuer+"\x00"+t.isin+"\x00"+r.holders[b.holder])
	})
}

// row returns the cells of a notice.
func (r *Register) row(p *pair, n int) []any {
	s, one := r.shares[p.share], p.notices[n]
	isin := s.isin
	switch r.oddity(p, n) % 97 {
	case 1:
		isin = strings.ToLower(isin[:1]) + isin[1:]
	case 2:
		isin = isin[:6] + strings.ToLower(isin[6:8]) + isin[8:]
	}
	return []any{s.lei, isin, s.issuer, r.holders[p.holder], padded(one.day), float64(one.percent) / 1000}
}

// oddity returns a number that decides which irregularities a notice has. It does not
// change.
func (r *Register) oddity(p *pair, n int) uint64 {
	return filler.Mix(r.o.Seed ^ uint64(p.share)<<40 ^ uint64(p.holder)<<20 ^ uint64(p.notices[n].day))
}

// padded returns a day in the form of the register, with blanks around it.
func padded(day disclosure.Day) string { return " " + day.String() + " " }

// The parts of the names of holders, which are invented.
var (
	houses = strings.Fields("Quillmere Tarnholt Vexford Brackwyn Lorndale Ashquay Morvane Pelhurst Grindlow Zephyrane " +
		"Corvask Duskwater Elmarch Farrowick Hollinmoor Ivorsund Kestrane Ludgrave Nethercombe Oakhelm")
	forms = []string{
		"Capital Management LLP",
		"Asset Management (UK) Limited",
		"Partners LP",
		"Capital, LLC",
		"Investments S.à r.l.",
		"Fondsmæglerselskab A/S",
	}
	// with letters that Latin-1 has and that it does not have, and one of a natural person
	unusual = []string{
		"Caisse fictive de dépôt du Nordval",
		"ŻURAW-KAPITAŁ ZMYŚLONY S.A.",
		"ZÜRIFELD KANTONALFONDS",
		"Šumavská Fiktivní Správa, a.s.",
		"Íñigo Ficticio Imaginario",
	}
)

// holders returns the names of holders. The first ones have most positions.
func holders() []string {
	var all []string
	for _, form := range forms {
		for _, house := range houses {
			all = append(all, house+" "+form)
		}
	}
	return slices.Insert(all, 3, unusual...)
}
