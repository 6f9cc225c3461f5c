package xls_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/document/extract/xls"
	paper "pregon/internal/sim/paper/xls"
)

// write returns the file of sheets.
func write(t testing.TB, sheets ...paper.Sheet) []byte {
	t.Helper()
	file, err := paper.Book(sheets)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// grid returns the cells of a sheet in the form in which they are written.
func grid(s xls.Sheet) [][]any {
	var rows [][]any
	for _, row := range s.Rows {
		for len(rows) < row.Number {
			rows = append(rows, nil)
		}
		var out []any
		for _, c := range row.Cells {
			for len(out) < c.Column {
				out = append(out, nil)
			}
			if c.Kind == xls.Number {
				out = append(out, c.Number)
			} else {
				out = append(out, c.String())
			}
		}
		rows[row.Number-1] = out
	}
	return rows
}

func TestRead(t *testing.T) {
	long := strings.Repeat("Sociedad de prueba ", 850)
	mixed := long + "Żółw 東京 𝄞" + long
	var many [][]any
	for n := range 3000 {
		many = append(many, []any{fmt.Sprintf("Titular número %d, S.à r.l. %s", n, strings.Repeat("ż", n%7)), float64(n) / 100})
	}
	for _, test := range []struct {
		name string
		rows [][]any
	}{
		{"none", nil},
		{"one text", [][]any{{"a"}}},
		{"a gap", [][]any{nil, {nil, nil, "x"}, nil, {1.0}}},
		{"numbers", [][]any{{0.49, 0.0, 2.547, 1e300, -3.25, 1.0 / 3, 123456789.0, -0.01, 4.49}}},
		{"letters", [][]any{{"Ñandú", "ZÜRICHER", "dépôt du Québec", "Łódź", "東京", "𝄞"}}},
		{"long", [][]any{{long, "after"}, {mixed, "after it"}, {long + "Ż"}}},
		{"many", many},
		{"last place", append(make([][]any, 65535), append(make([]any, 255), "x"))},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := write(t, paper.Sheet{Name: "Última_-_Current", Rows: test.rows}, paper.Sheet{Name: "Hoja2"})
			book, err := xls.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(book.Sheets) != 2 || book.Sheets[0].Name != "Última_-_Current" || len(book.Sheets[1].Rows) != 0 || book.Date1904 {
				t.Fatalf("got sheets %v", len(book.Sheets))
			}
			if diff := cmp.Diff(test.rows, grid(book.Sheets[0])); diff != "" {
				t.Error(diff)
			}
			again, err := xls.Decode(book.Encode())
			if diff := cmp.Diff(book, again); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
}

func TestDecimal(t *testing.T) {
	for _, test := range []struct {
		x    float64
		want string
	}{
		{0.49, "0.49"},
		{49.0 / 100, "0.49"},
		{2.547, "2.547"},
		{0.1 + 0.2, "0.3"},
		{math.Copysign(0, -1), "0"},
		{1e21, "1000000000000000000000"},
		{1.5e-7, "0.00000015"},
		{-4.49, "-4.49"},
	} {
		if got := (xls.Cell{Kind: xls.Number, Number: test.x}).Decimal(); got != test.want {
			t.Errorf("%v: got %q, want %q", test.x, got, test.want)
		}
	}
}

func TestColumnName(t *testing.T) {
	for column, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 255: "IV", -1: "?"} {
		if got := xls.ColumnName(column); got != want {
			t.Errorf("%d: got %q, want %q", column, got, want)
		}
	}
}

// record returns a record of the format.
func record(id uint16, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint16(nil, id)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(data)))
	return append(b, data...)
}

// insert returns a file whose first sheet has further records at its beginning. The
// sheet has to have room for them: a text that they replace.
func insert(t testing.TB, records []byte) []byte {
	t.Helper()
	var filler [][]any
	for n := range 40 {
		filler = append(filler, []any{float64(n) + 0.123, float64(n) + 0.456})
	}
	file := write(t, paper.Sheet{Name: "A", Rows: filler}, paper.Sheet{Name: "B"})
	first := strings.Index(string(file), string(record(0x0203)[:2])+"\x0e\x00")
	if first < 0 {
		t.Fatal("there is no number")
	}
	copy(file[first:], records)
	// what is left of the replaced records is passed over
	const room = 40 * 2 * 18
	rest := room - len(records) - 4
	binary.LittleEndian.PutUint16(file[first+len(records):], 0x00ff)
	binary.LittleEndian.PutUint16(file[first+len(records)+2:], uint16(rest))
	return file
}

func join(list ...[]byte) (all []byte) {
	for _, b := range list {
		all = append(all, b...)
	}
	return all
}

func TestRecords(t *testing.T) {
	formula := func(column byte, result ...byte) []byte {
		return record(0x0006, append([]byte{0, 0, column, 0, 0, 0}, append(result, make([]byte, 14-len(result))...)...)...)
	}
	for _, test := range []struct {
		name    string
		records []byte
		want    [][]any
	}{
		{"label", record(0x0204, 0, 0, 1, 0, 0, 0, 2, 0, 0, 'o', 0xf1), [][]any{{nil, "oñ"}}},
		{"wide label", record(0x0204, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x41, 0x01), [][]any{{"Ł"}}},
		{"label with fonts", record(0x00d6, 0, 0, 0, 0, 0, 0, 1, 0, 8, 1, 0, 'x', 0, 0, 1, 0), [][]any{{"x"}}},
		{"blanks", join(record(0x0201, 0, 0, 0, 0, 0, 0), record(0x00be, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0)), nil},
		{"a chart within", join(record(0x0809, 0, 6, 0x20, 0), record(0x0204, 0, 0, 0, 0, 0, 0, 1, 0, 0, 'x'), record(0x000a)), nil},
		{"twice", join(record(0x0204, 0, 0, 0, 0, 0, 0, 1, 0, 0, 'x'), record(0x0204, 0, 0, 0, 0, 0, 0, 1, 0, 0, 'y')), [][]any{{"y"}}},
		{"out of order", join(record(0x0204, 1, 0, 0, 0, 0, 0, 1, 0, 0, 'x'), record(0x0204, 0, 0, 0, 0, 0, 0, 1, 0, 0, 'y')), [][]any{{"y"}, {"x"}}},
		{"truth and error", join(record(0x0205, 0, 0, 0, 0, 0, 0, 1, 0), record(0x0205, 0, 0, 1, 0, 0, 0, 7, 1)), [][]any{{"TRUE", "#ERROR"}}},
		{"formula of a number", formula(0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f), [][]any{{1.5}}},
		{"formula of a text", join(formula(0, 0, 0, 0, 0, 0, 0, 0xff, 0xff), record(0x0207, 1, 0, 0, 'x')), [][]any{{"x"}}},
		{"formula of a truth", formula(0, 1, 0, 1, 0, 0, 0, 0xff, 0xff), [][]any{{"TRUE"}}},
		{"formula of an error", formula(0, 2, 0, 7, 0, 0, 0, 0xff, 0xff), [][]any{{"#ERROR"}}},
		{"formula of nothing", formula(0, 3, 0, 0, 0, 0, 0, 0xff, 0xff), nil},
		{"several", record(0x00bd, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0xc7, 0, 0, 0, 2, 0), [][]any{{nil, 1.0, 0.49}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			book, err := xls.Read(insert(t, test.records))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, grid(book.Sheets[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}
