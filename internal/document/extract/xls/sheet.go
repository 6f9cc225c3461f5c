package xls

import (
	"cmp"
	"math"
	"slices"
)

// place is a sheet as the beginning of the workbook announces it.
type place struct {
	name  string
	at    int  // in the stream
	cells bool // it is a sheet of cells
}

// reader reads the stream of a workbook.
type reader struct {
	records
	book    Book
	strings []string
	places  []place
	cells   int // that may still be read
	text    int // bytes that may still be read
}

func readStream(stream []byte) (Book, error) {
	r := &reader{
		records: records{stream: stream, left: maxRecords},
		cells:   MaxCells,
		text:    MaxText,
	}
	kind, err := r.bof()
	switch {
	case err != nil:
		return Book{}, err
	case kind != globals:
		return Book{}, errDamaged
	}
	if err := r.globals(); err != nil {
		return Book{}, err
	}
	for _, p := range r.places {
		s, err := r.sheet(p)
		if err != nil {
			return Book{}, err
		}
		r.book.Sheets = append(r.book.Sheets, s)
	}
	return r.book, nil
}

// globals reads the part of the stream that concerns the whole workbook.
func (r *reader) globals() error {
	for {
		ok, err := r.next()
		if err != nil {
			return err
		}
		if !ok {
			return errDamaged
		}
		switch r.id {
		case recEOF:
			if len(r.places) == 0 {
				return invalid("it has no sheets")
			}
			return nil
		case recFilePass:
			return errEncrypted
		case recDateMode:
			r.book.Date1904 = len(r.data) >= 2 && u16(r.data, 0) == 1
		case recSheet:
			err = r.place()
		case recSST:
			err = r.shared()
		}
		if err != nil {
			return err
		}
	}
}

func (r *reader) place() error {
	if len(r.places) == MaxSheets {
		return invalid("it has more than %d sheets", MaxSheets)
	}
	if len(r.data) < 8 {
		return errDamaged
	}
	name, err := r.cursor(r.data[6:]).str(1)
	if err != nil {
		return err
	}
	r.places = append(r.places, place{name: name, at: int(u32(r.data, 0)), cells: r.data[5] == 0})
	return nil
}

func (r *reader) shared() error {
	parts, err := r.continued()
	if err != nil {
		return err
	}
	r.strings, err = sharedStrings(r.cursor(parts...))
	return err
}

func (r *reader) cursor(parts ...[]byte) *cursor { return &cursor{parts: parts, text: &r.text} }

// found is a cell with its row.
type found struct {
	row int // from 0
	Cell
}

// sheet reads a sheet. Parts of the stream within it, such as charts, are passed over.
func (r *reader) sheet(p place) (Sheet, error) {
	s := Sheet{Name: p.name}
	if !p.cells {
		return s, nil
	}
	if p.at > len(r.stream) {
		return s, errDamaged
	}
	r.at = p.at
	kind, err := r.bof()
	if err != nil {
		return s, err
	}
	if kind != worksheet {
		return s, nil
	}
	var all []found
	for depth := 1; depth > 0; {
		ok, err := r.next()
		switch {
		case err != nil:
			return s, err
		case !ok:
			return s, errDamaged
		case r.id == recEOF:
			depth--
		case r.id == recBOF:
			depth++
		case depth == 1:
			before := len(all)
			if all, err = r.record(all); err != nil {
				return s, err
			}
			if r.cells -= len(all) - before; r.cells < 0 {
				return s, invalid("it has more than %d cells", MaxCells)
			}
		}
	}
	s.Rows = rowsOf(all)
	return s, nil
}

// rowsOf returns the rows of cells. Of two cells at the same place the last one counts.
func rowsOf(all []found) []Row {
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.Column, b.Column))
	})
	var rows []Row
	for _, c := range all {
		if n := len(rows); n == 0 || rows[n-1].Number != c.row+1 {
			rows = append(rows, Row{Number: c.row + 1})
		}
		row := &rows[len(rows)-1]
		if n := len(row.Cells); n > 0 && row.Cells[n-1].Column == c.Column {
			row.Cells[n-1] = c.Cell
			continue
		}
		row.Cells = append(row.Cells, c.Cell)
	}
	return rows
}

// leastLengths are the shortest data of the records that hold values.
var leastLengths = map[uint16]int{
	recNumber:   14,
	recRK:       10,
	recMulRK:    12,
	recLabelSST: 10,
	recLabel:    9,
	recRString:  9,
	recBoolErr:  8,
	recFormula:  14,
}

// record appends the cells of a record.
func (r *reader) record(all []found) ([]found, error) {
	least, ok := leastLengths[r.id]
	if !ok {
		return all, nil
	}
	if len(r.data) < least {
		return all, errDamaged
	}
	row, column := int(u16(r.data, 0)), int(u16(r.data, 2))
	if column >= MaxColumns {
		return all, errDamaged
	}
	if r.id == recMulRK {
		return r.several(all, row, column)
	}
	c, err := r.cell()
	if err != nil || c.Kind == None || c.Kind == Text && c.Text == "" {
		return all, err
	}
	c.Column = column
	return append(all, found{row, c}), nil
}

// several appends the numbers of a record that has those of adjacent columns.
func (r *reader) several(all []found, row, column int) ([]found, error) {
	for at := 4; at+6 <= len(r.data)-2; at += 6 {
		x := rk(u32(r.data, at+2))
		if column >= MaxColumns || !finite(x) {
			return all, errDamaged
		}
		all = append(all, found{row, Cell{Column: column, Kind: Number, Number: x}})
		column++
	}
	return all, nil
}

// cell returns the cell of the record, without its column.
func (r *reader) cell() (Cell, error) {
	switch r.id {
	case recNumber:
		return numberCell(math.Float64frombits(u64(r.data, 6)))
	case recRK:
		return numberCell(rk(u32(r.data, 6)))
	case recLabelSST:
		n := int64(u32(r.data, 6))
		if n >= int64(len(r.strings)) {
			return Cell{}, errDamaged
		}
		return Cell{Kind: Text, Text: r.strings[n]}, nil
	case recLabel, recRString:
		return r.textCell(r.data[6:])
	case recBoolErr:
		c := Cell{Kind: Bool, Number: float64(r.data[6])}
		if r.data[7] != 0 {
			c.Kind = Failure
		}
		return c, nil
	}
	return r.formula()
}

func (r *reader) textCell(data []byte) (Cell, error) {
	s, err := r.cursor(data).str(2)
	return Cell{Kind: Text, Text: s}, err
}

// formula returns the result that the program which wrote the file computed.
func (r *reader) formula() (Cell, error) {
	if u16(r.data, 12) != 0xffff {
		return numberCell(math.Float64frombits(u64(r.data, 6)))
	}
	switch r.data[6] {
	case 0:
		return r.result()
	case 1:
		return Cell{Kind: Bool, Number: float64(r.data[8])}, nil
	case 2:
		return Cell{Kind: Failure, Number: float64(r.data[8])}, nil
	}
	return Cell{}, nil
}

// result reads the text of a formula, which is in a record of its own. Records about
// shared formulas may precede it.
func (r *reader) result() (Cell, error) {
	const most = 3
	for range most {
		before := r.at
		ok, err := r.next()
		if err != nil || !ok {
			return Cell{}, errDamaged
		}
		switch r.id {
		case recString:
			parts, err := r.continued()
			if err != nil {
				return Cell{}, err
			}
			s, err := r.cursor(parts...).str(2)
			return Cell{Kind: Text, Text: s}, err
		case recEOF, recBOF, recFormula:
			r.at = before
			return Cell{}, errDamaged
		}
	}
	return Cell{}, errDamaged
}

func numberCell(x float64) (Cell, error) {
	if !finite(x) {
		return Cell{}, errDamaged
	}
	return Cell{Kind: Number, Number: x}, nil
}

// rk returns a number of four bytes: the upper bits of a double, or an integer; a
// hundredth of it if the lowest bit is set.
func rk(bits uint32) float64 {
	x := math.Float64frombits(uint64(bits&^3) << 32)
	if bits&2 != 0 {
		x = float64(int32(bits) >> 2)
	}
	if bits&1 != 0 {
		x /= 100
	}
	return x
}

func u64(b []byte, at int) uint64 { return uint64(u32(b, at)) | uint64(u32(b, at+4))<<32 }
