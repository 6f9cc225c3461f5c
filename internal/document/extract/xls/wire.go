package xls

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"
)

// MaxEncoded is the size of the longest encoding that Decode accepts.
const MaxEncoded = MaxText + 24*MaxCells

// wireVersion is the first byte of an encoding.
const wireVersion = 1

// Encode returns the book in the form in which the confined child sends it. Each
// different text is in it once: most texts of a register come many times.
func (b Book) Encode() []byte {
	e := encoder{index: map[string]uint64{}}
	e.bool(b.Date1904)
	e.uint(len(b.Sheets))
	for _, s := range b.Sheets {
		e.text(s.Name)
		e.uint(len(s.Rows))
		for _, row := range s.Rows {
			e.uint(row.Number)
			e.uint(len(row.Cells))
			for _, c := range row.Cells {
				e.cell(c)
			}
		}
	}
	out := binary.AppendUvarint([]byte{wireVersion}, uint64(len(e.texts)))
	for _, s := range e.texts {
		out = append(binary.AppendUvarint(out, uint64(len(s))), s...)
	}
	return append(out, e.out...)
}

type encoder struct {
	out   []byte
	texts []string
	index map[string]uint64
}

func (e *encoder) uint(n int) { e.out = binary.AppendUvarint(e.out, uint64(n)) }

func (e *encoder) bool(b bool) {
	n := 0
	if b {
		n = 1
	}
	e.uint(n)
}

func (e *encoder) text(s string) {
	n, ok := e.index[s]
	if !ok {
		n = uint64(len(e.texts))
		e.texts, e.index[s] = append(e.texts, s), n
	}
	e.out = binary.AppendUvarint(e.out, n)
}

func (e *encoder) cell(c Cell) {
	e.uint(c.Column)
	e.uint(int(c.Kind))
	if c.Kind == Text {
		e.text(c.Text)
		return
	}
	e.out = binary.LittleEndian.AppendUint64(e.out, math.Float64bits(c.Number))
}

// errEncoding is the error of an encoding that Encode does not make.
var errEncoding = errors.New("the encoding of the workbook is invalid")

// Decode returns the book of an encoding. It trusts nothing: a workbook may have
// taken over the process that encoded it.
func Decode(b []byte) (Book, error) {
	d := decoder{in: b}
	if len(b) > MaxEncoded || d.byte() != wireVersion {
		return Book{}, errEncoding
	}
	d.texts = make([]string, d.count(len(b), 1))
	for n := range d.texts {
		d.texts[n] = string(d.bytes(d.count(MaxText, 1)))
		d.bad = d.bad || !utf8.ValidString(d.texts[n])
	}
	book := Book{Date1904: d.uint(1) == 1}
	for range d.count(MaxSheets, 2) {
		book.Sheets = append(book.Sheets, d.sheet())
	}
	if d.bad || len(d.in) > 0 {
		return Book{}, errEncoding
	}
	return book, nil
}

type decoder struct {
	in    []byte
	texts []string
	cells int
	bad   bool // the encoding is invalid, and so is all that was decoded
}

// fail stops the decoding: nothing is left to read.
func (d *decoder) fail() { d.bad, d.in = true, nil }

func (d *decoder) byte() byte {
	b := d.bytes(1)
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.in) {
		d.fail()
		return nil
	}
	b := d.in[:n]
	d.in = d.in[n:]
	return b
}

// uint reads a number up to a limit.
func (d *decoder) uint(most int) int {
	n, size := binary.Uvarint(d.in)
	if size <= 0 || n > uint64(most) {
		d.fail()
		return 0
	}
	d.in = d.in[size:]
	return int(n)
}

// count reads the number of items, each of which has at least some bytes.
func (d *decoder) count(most, least int) int {
	n := d.uint(most)
	if n > len(d.in)/least {
		d.fail()
		return 0
	}
	return n
}

func (d *decoder) text() string {
	n := d.uint(max(0, len(d.texts)-1))
	if n >= len(d.texts) {
		d.fail()
		return ""
	}
	return d.texts[n]
}

func (d *decoder) sheet() Sheet {
	s := Sheet{Name: d.text()}
	last := 0
	for range d.count(MaxRows, 2) {
		row := Row{Number: d.uint(MaxRows)}
		if row.Number <= last {
			d.fail()
			break
		}
		last = row.Number
		row.Cells = d.row()
		s.Rows = append(s.Rows, row)
	}
	return s
}

func (d *decoder) row() []Cell {
	n := d.count(MaxColumns, 3)
	if d.cells += n; d.cells > MaxCells || n == 0 {
		d.fail()
		return nil
	}
	cells := make([]Cell, n)
	for k := range cells {
		c := Cell{Column: d.uint(MaxColumns - 1), Kind: Kind(d.uint(int(Failure)))}
		switch c.Kind {
		case Text:
			c.Text = d.text()
		case None:
			d.fail()
		default:
			if b := d.bytes(8); b != nil {
				c.Number = math.Float64frombits(u64(b, 0))
			}
		}
		if k > 0 && c.Column <= cells[k-1].Column || !finite(c.Number) {
			d.fail()
		}
		cells[k] = c
	}
	return cells
}
