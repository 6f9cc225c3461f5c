package shorts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/document/extract/xls"
	"pregon/internal/sim/market"
	"pregon/internal/source/shorts"
)

// The shapes and values are those of the real register, the names are invented.
var (
	acerera  = market.LEI(disclosure.Issuer{ID: "A69000001"})
	refinery = market.LEI(disclosure.Issuer{ID: "A69000002"})
	systems  = market.LEI(disclosure.Issuer{ID: "A69000003"})
)

var headers = []any{
	"LEI",
	"ISIN",
	"Emisor / Issuer",
	"Tenedor de la Posición / Position holder",
	"Fecha posición / Position date",
	"Posición corta (%) / Net short position (%)",
}

// sheet returns a sheet whose first row is in line 4, as in the register.
func sheet(name string, rows ...[]any) xls.Sheet {
	s := xls.Sheet{Name: name}
	for n, cells := range rows {
		if row := newRow(n+4, cells...); len(row.Cells) > 0 {
			s.Rows = append(s.Rows, row)
		}
	}
	return s
}

func newRow(line int, cells ...any) xls.Row {
	row := xls.Row{Number: line}
	for column, value := range cells {
		switch value := value.(type) {
		case string:
			row.Cells = append(row.Cells, xls.Cell{Column: column, Kind: xls.Text, Text: value})
		case float64:
			row.Cells = append(row.Cells, xls.Cell{Column: column, Kind: xls.Number, Number: value})
		}
	}
	return row
}

func notice(lei, isin, issuer, holder, day string, percent any) []any {
	return []any{lei, isin, issuer, holder, " " + day + " ", percent}
}

// The notices of the golden register.
var (
	first  = notice(acerera, "ES01SIM00018", "ACERÍA FICTICIA, S.A. ", "Quillmere Investment Management (UK) Limited", "2026-08-04", 0.62)
	second = notice(acerera, "ES01SIM00018", "ACERÍA FICTICIA, S.A.", "Vexford Capital Management, LLC", "2026-10-05", 0.49)
	third  = notice(refinery, "eS01SIM00026", "REFINERÍAS FICTICIAS, S.A.", "Caisse fictive de dépôt du Nordval", "2025-12-04", 0.72)
	old    = notice(refinery, "ES01SIM00026", "REFINERÍAS FICTICIAS, S.A.", "Caisse fictive de dépôt du Nordval", "2025-06-04", 1.49)
	closed = notice(acerera, "ES01SIM00018", "ACERÍA FICTICIA, S.A.", "ŻURAW KAPITAŁ LLP", "2021-02-19", 0.0)
	three  = notice(systems, "ES01sim00034", "SISTEMAS  FICTICIOS, S.A.", "ZÜRIFELD KANTONALFONDS", "2015-05-21", 2.547)
	abroad = notice(systems, "GB00SIM00018", "FICTITIOUS FERRIES PLC", "Íñigo Ficticio", "2011-06-20", 4.49)
)

// golden returns the register, so that a test can change it.
func golden() xls.Book {
	return xls.Book{Sheets: []xls.Sheet{
		{Name: "Fecha_-_Date", Rows: []xls.Row{
			newRow(1, nil, "Fecha de Publicación"),
			newRow(2, nil, "Date of publication"),
			newRow(4, nil, " 2026-10-06 "),
		}},
		sheet("Última_-_Current", headers, first, second, third),
		sheet("Serie_-_Series", headers, first, second, third, old),
		sheet("Anteriores_-_Previous", headers, closed, three, three, abroad, old),
		{Name: "Hoja2"},
		{Name: "Hoja3"},
	}}
}

func TestParse(t *testing.T) {
	r, err := shorts.Parse(golden())
	if err != nil {
		t.Fatal(err)
	}
	if r.Published.String() != "2026-10-06" || len(r.Findings) > 0 {
		t.Errorf("published %s, findings %v", r.Published, r.Findings)
	}
	var got []string
	for _, rows := range [][]shorts.Row{r.Current, r.Series, r.Previous} {
		for _, row := range rows {
			got = append(got, fmt.Sprintf("r%d %s %s %s · %s · %s · %s · %s", row.Line, row.LEI, row.ISIN, row.RawISIN, row.Issuer, row.Name, row.Day, row.Percent))
		}
	}
	want := []string{
		"r5 " + acerera + " ES01SIM00018 ES01SIM00018 · ACERÍA FICTICIA, S.A. · Quillmere Investment Management (UK) Limited · 2026-08-04 · 0.62",
		"r6 " + acerera + " ES01SIM00018 ES01SIM00018 · ACERÍA FICTICIA, S.A. · Vexford Capital Management, LLC · 2026-10-05 · 0.49",
		"r7 " + refinery + " ES01SIM00026 eS01SIM00026 · REFINERÍAS FICTICIAS, S.A. · Caisse fictive de dépôt du Nordval · 2025-12-04 · 0.72",
	}
	want = append(append(want, want...),
		"r8 "+refinery+" ES01SIM00026 ES01SIM00026 · REFINERÍAS FICTICIAS, S.A. · Caisse fictive de dépôt du Nordval · 2025-06-04 · 1.49",
		"r5 "+acerera+" ES01SIM00018 ES01SIM00018 · ACERÍA FICTICIA, S.A. · ŻURAW KAPITAŁ LLP · 2021-02-19 · 0",
		"r6 "+systems+" ES01SIM00034 ES01sim00034 · SISTEMAS FICTICIOS, S.A. · ZÜRIFELD KANTONALFONDS · 2015-05-21 · 2.547",
		"r7 "+systems+" ES01SIM00034 ES01sim00034 · SISTEMAS FICTICIOS, S.A. · ZÜRIFELD KANTONALFONDS · 2015-05-21 · 2.547",
		"r8 "+systems+" GB00SIM00018 GB00SIM00018 · FICTITIOUS FERRIES PLC · Íñigo Ficticio · 2011-06-20 · 4.49",
		"r9 "+refinery+" ES01SIM00026 ES01SIM00026 · REFINERÍAS FICTICIAS, S.A. · Caisse fictive de dépôt du Nordval · 2025-06-04 · 1.49",
	)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnion(t *testing.T) {
	r, err := shorts.Parse(golden())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range r.Union() {
		got = append(got, fmt.Sprintf("%s %s %v %v", n.Day, n.Percent, n.Current, n.Closed()))
	}
	want := []string{
		"2011-06-20 4.49 false false",
		"2015-05-21 2.547 false false",
		"2021-02-19 0 false true",
		"2025-06-04 1.49 false false",
		"2025-12-04 0.72 true false",
		"2026-08-04 0.62 true false",
		"2026-10-05 0.49 true false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if none := (&shorts.Register{}).Union(); len(none) != 0 {
		t.Errorf("the union of nothing has %d notices", len(none))
	}
}

// with returns the golden register with another sheet in the place of one.
func with(n int, s xls.Sheet) xls.Book {
	b := golden()
	b.Sheets[n] = s
	return b
}

// changed returns the golden register whose second current row has another value.
func changed(column int, value any) xls.Book {
	row := slices.Clone(second)
	row[column] = value
	return with(1, sheet("Última_-_Current", headers, first, row, third))
}

func TestRefused(t *testing.T) {
	without := func(n int) xls.Book {
		b := golden()
		b.Sheets = slices.Delete(b.Sheets, n, n+1)
		return b
	}
	missing := slices.Clone(headers)
	missing[4] = "Fecha / Day"
	twice := append(slices.Clone(headers), "Issuer")
	for _, test := range []struct {
		name string
		book xls.Book
		want string
	}{
		{"no sheets", xls.Book{}, `no sheet with the name of "date"`},
		{"no dates", without(0), `no sheet with the name of "date"`},
		{"no present positions", without(1), `no sheet with the name of "current"`},
		{"no series", without(2), `no sheet with the name of "series"`},
		{"no archive", without(3), `no sheet with the name of "previous"`},
		{"a sheet twice", with(4, sheet("Current", headers, first)), `sheet "Current": it has the same name as "Última_-_Current"`},
		{"no day", with(0, xls.Sheet{Name: "Fecha_-_Date"}), `sheet "Fecha_-_Date": it has 0 days`},
		{"two days", with(0, sheet("Date", []any{" 2026-10-06 ", "2026-10-07"})), "it has 2 days"},
		{"an empty sheet", with(1, xls.Sheet{Name: "Última_-_Current"}), "it is empty"},
		{"only headers", with(1, sheet("Última_-_Current", headers)), "headers and no rows"},
		{"no headers", with(3, sheet("Previous", closed)), `row 4: no header is "lei"`},
		{"a missing header", with(3, sheet("Previous", missing, closed)), `row 4: no header is "fecha posicion / position date"`},
		{"a header twice", with(3, sheet("Previous", twice, closed)), `row 4, column G: its header "Issuer" is that of column C too`},
		{"no LEI", changed(0, nil), `sheet "Última_-_Current", row 6, column A: "" is not a text`},
		{"a short LEI", changed(0, acerera[:19]), "is not a LEI"},
		{"no ISIN", changed(1, nil), `column B: "" is not a text`},
		{"a wrong ISIN", changed(1, "ES01SIM"), `row 6, column B: "ES01SIM" is not an ISIN`},
		{"no issuer", changed(2, " - "), `column C: "-" is not a name`},
		{"no holder", changed(3, " "), `column D: "" is not a name`},
		{"a long holder", changed(3, strings.Repeat("x", 301)), "is not a name"},
		{"a day that is a number", changed(4, 46_000.0), `row 6, column E: "46000" is not a text`},
		{"another form of day", changed(4, "05/10/2026"), `column E: "05/10/2026" is not a day of the form 2006-01-02`},
		{"a day that does not exist", changed(4, "2026-02-30"), "is not a day"},
		{"a percentage that is a text", changed(5, "0,49"), `row 6, column F: "0,49" is not a number from 0 to 100`},
		{"no percentage", changed(5, nil), `column F: "" is not a number`},
		{"a negative percentage", changed(5, -0.49), "is not a number from 0"},
		{"too much", changed(5, 100.5), "is not a number from 0"},
		{"too many decimals", changed(5, 0.1234567), "at most 6 decimals"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := shorts.Parse(test.book)
			if !shorts.IsRefused(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestFindings(t *testing.T) {
	later := notice(acerera, "ES01SIM00018", "ACERÍA FICTICIA, S.A.", "Vexford Capital Management, LLC", "2026-10-06", 0.59)
	future := notice(acerera, "ES01SIM00018", "ACERÍA FICTICIA, S.A.", "ŻURAW KAPITAŁ LLP", "2026-10-07", 0.6)
	other := notice(acerera, "ES01SIM00018", "ACERÍA FICTICIA, S.A.", "ŻURAW KAPITAŁ LLP", "2021-02-19", 0.5)
	ancient := notice(acerera, "ES01SIM00018", "ACERÍA FICTICIA, S.A.", "ŻURAW KAPITAŁ LLP", "1999-01-01", 0.5)
	wrong := notice(acerera[:18]+"00", "ES01SIM00018", "ACERÍA FICTICIA, S.A.", "ŻURAW KAPITAŁ LLP", "2019-01-01", 0.5)
	for _, test := range []struct {
		name string
		book xls.Book
		want []string
	}{
		{"an unknown sheet", with(4, sheet("Hoja2", []any{"x"})), []string{`sheet "Hoja2": it is unknown and has 1 rows, which are not read`}},
		{"an unknown column", with(3, sheet("Previous", append(slices.Clone(headers), "Notas"), closed)), []string{`sheet "Previous", row 4: the column G "Notas" is unknown and not read`}},
		{"a gap", with(3, sheet("Previous", headers, closed, nil, nil, three)), []string{`sheet "Previous", row 6: 2 rows without a value`}},
		{"after the publication", with(3, sheet("Previous", headers, future)), []string{`sheet "Previous", row 5: its day 2026-10-07 is after the publication on 2026-10-06`}},
		{"before the register", with(3, sheet("Previous", headers, ancient)), []string{`sheet "Previous", row 5: its day 1999-01-01 is before there were such notices`}},
		{"two values", with(3, sheet("Previous", headers, closed, other)), []string{`sheet "Previous", row 6: it has 0.5 %, and another row of the same holder, share and day 0 %`}},
		{"check digits", with(3, sheet("Previous", headers, wrong)), []string{`sheet "Previous", row 5: the check digits of the LEI ` + acerera[:18] + `00 are wrong`}},
		{"not in the series", with(2, sheet("Series", headers, first, second)), []string{`sheet "Última_-_Current", row 7: the series does not have it`}},
		{"newer in the series", with(2, sheet("Series", headers, first, second, third, later)), []string{`sheet "Última_-_Current", row 6: the series has a newer notice, of 2026-10-06`}},
		{"twice", with(1, sheet("Current", headers, first, second, third, second)), []string{`sheet "Current", row 8: row 6 is the same holder and share`}},
		{"not present", with(1, sheet("Current", headers, first, second)), []string{`sheet "Serie_-_Series", row 7: it is the newest notice of its holder and share, and not among the present ones`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := shorts.Parse(test.book)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestManyFindings: a register in which all is odd does not fill the memory.
func TestManyFindings(t *testing.T) {
	rows := [][]any{headers}
	for n := range 500 {
		rows = append(rows, notice(acerera, "ES01SIM00018", "X", fmt.Sprintf("Fund %d", n), "2026-10-07", 0.6))
	}
	r, err := shorts.Parse(with(3, sheet("Previous", rows...)))
	if err != nil || len(r.Findings)+r.Omitted != 500 || len(r.Findings) > 100 {
		t.Errorf("%d findings and %d more, %v", len(r.Findings), r.Omitted, err)
	}
}

// FuzzParse parses the golden register with another value in a place, and any other
// workbook.
func FuzzParse(f *testing.F) {
	f.Add(golden().Encode(), "0.49", 5)
	f.Add(changed(1, "es01SIM00018").Encode(), "LEI", 0)
	f.Add([]byte{1, 0, 0, 0}, "", -1)
	f.Fuzz(func(t *testing.T, encoded []byte, value string, column int) {
		books := []xls.Book{changed(min(max(column, 0), 5), value)}
		if b, err := xls.Decode(encoded); err == nil {
			books = append(books, b)
		}
		for _, b := range books {
			r, err := shorts.Parse(b)
			if err != nil {
				if !shorts.IsRefused(err) {
					t.Fatalf("%v is not an *Error", err)
				}
				continue
			}
			for _, n := range r.Union() {
				if !disclosure.IsISIN(n.ISIN) || n.Percent == "" || n.Name == "" || len(n.LEI) != 20 {
					t.Fatalf("accepted %+v", n)
				}
			}
		}
	})
}
