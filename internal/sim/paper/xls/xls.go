// Package xls writes workbooks in the format of Excel 97 to 2003, BIFF8 records in an
// OLE2 compound file, as far as simulated registers need it.
//
// Its files have what the reader of such files has to understand: texts in a table
// that continues over records in the middle of a text and changes the width of the
// characters there, numbers of four bytes, several of them in one record, and sheets
// without cells.
package xls

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf16"
)

// Limits of the format, and of what is written of it.
const (
	maxRecord = 8224 // bytes of data
	maxRows   = 1 << 16
	maxText   = 32_767 // UTF-16 units of a cell
	maxName   = 31     // of a sheet
)

// Sheet is a sheet of cells.
type Sheet struct {
	Name string
	Rows [][]any // a value is a string, a float64, or nil for an empty cell
}

// Book returns the file of a workbook. The same sheets give the same bytes.
func Book(sheets []Sheet) ([]byte, error) {
	if len(sheets) == 0 {
		return nil, fmt.Errorf("a workbook needs a sheet")
	}
	w := &writer{index: map[string]uint32{}}
	var parts [][]byte
	for _, s := range sheets {
		part, err := w.sheet(s)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	stream := w.globals(sheets, parts)
	for _, part := range parts {
		stream = append(stream, part...)
	}
	return compound(stream)
}

// writer collects the texts of all cells.
type writer struct {
	texts []string
	index map[string]uint32
	uses  uint32
}

func (w *writer) text(s string) uint32 {
	w.uses++
	n, ok := w.index[s]
	if !ok {
		n = uint32(len(w.texts))
		w.texts, w.index[s] = append(w.texts, s), n
	}
	return n
}

// record appends a record.
func record(b []byte, id uint16, data []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, id)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(data)))
	return append(b, data...)
}

// words returns numbers of two bytes.
func words(list ...int) (b []byte) {
	for _, n := range list {
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
	}
	return b
}

// globals returns the part that concerns the whole workbook. The places of the sheets
// depend on its length, which does not depend on them.
func (w *writer) globals(sheets []Sheet, parts [][]byte) []byte {
	length := len(w.globalsAt(sheets, parts, 0))
	return w.globalsAt(sheets, parts, length)
}

func (w *writer) globalsAt(sheets []Sheet, parts [][]byte, length int) []byte {
	b := record(nil, 0x0809, words(0x0600, 0x0005, 0x0dbb, 0x07cc, 0, 0, 6, 0))
	b = record(b, 0x0042, words(1200))                                     // the codepage: UTF-16
	b = record(b, 0x003d, words(0, 0, 0x3000, 0x2000, 0x38, 0, 0, 1, 600)) // the window
	b = record(b, 0x0022, words(0))                                        // dates count from 1900
	for range 4 {
		font := append(words(200, 0, 0x7fff, 400, 0), 0, 0, 0, 0, 5, 0)
		b = record(b, 0x0031, append(font, "Arial"...))
	}
	for n := range 16 {
		kind := 0xfff5 // a style
		if n == 15 {
			kind = 1 // a cell
		}
		b = record(b, 0x00e0, words(0, 0, kind, 0x20, 0, 0, 0, 0, 0, 0x20c0))
	}
	b = record(b, 0x0293, []byte{0, 0x80, 0, 0xff}) // the style Normal
	for n, s := range sheets {
		data := binary.LittleEndian.AppendUint32(nil, uint32(length))
		data = append(data, 0, 0)
		b = record(b, 0x0085, append(data, nameOf(s.Name)...))
		length += len(parts[n])
	}
	b = w.table(b)
	return record(b, 0x000a, nil)
}

// nameOf returns the name of a sheet with its length.
func nameOf(s string) []byte {
	units := utf16.Encode([]rune(s))
	b := []byte{byte(len(units)), 0}
	if wide(units) {
		b[1] = 1
	}
	return appendUnits(b, units, b[1] == 1)
}

// wide reports whether characters need two bytes each.
func wide(units []uint16) bool {
	for _, u := range units {
		if u > 0xff {
			return true
		}
	}
	return false
}

func appendUnits(b []byte, units []uint16, wide bool) []byte {
	for _, u := range units {
		b = append(b, byte(u))
		if wide {
			b = append(b, byte(u>>8))
		}
	}
	return b
}

// sheet returns the part of a sheet.
func (w *writer) sheet(s Sheet) ([]byte, error) {
	if n := len(utf16.Encode([]rune(s.Name))); n == 0 || n > maxName {
		return nil, fmt.Errorf("the name of a sheet has 1 to %d characters: %q", maxName, s.Name)
	}
	if len(s.Rows) > maxRows {
		return nil, fmt.Errorf("a sheet has at most %d rows, and %q has %d", maxRows, s.Name, len(s.Rows))
	}
	columns := 0
	for _, row := range s.Rows {
		columns = max(columns, len(row))
	}
	b := record(nil, 0x0809, words(0x0600, 0x0010, 0x0dbb, 0x07cc, 0, 0, 6, 0))
	size := words(0, 0, len(s.Rows), len(s.Rows)>>16, 0, columns, 0)
	b = record(b, 0x0200, size)
	for n, row := range s.Rows {
		var err error
		if b, err = w.row(b, n, row); err != nil {
			return nil, fmt.Errorf("sheet %q, row %d: %w", s.Name, n+1, err)
		}
	}
	b = record(b, 0x023e, words(0x06b6, 0, 0, 64, 0, 0, 0, 0, 0)) // the view
	return record(b, 0x000a, nil), nil
}

// cellFormat is the format of all cells, General.
const cellFormat = 15

// row appends the cells of a row. Adjacent numbers of four bytes are in one record.
func (w *writer) row(b []byte, n int, row []any) ([]byte, error) {
	for column := 0; column < len(row); column++ {
		head := words(n, column, cellFormat)
		switch value := row[column].(type) {
		case nil:
		case string:
			if units := len(utf16.Encode([]rune(value))); units > maxText {
				return nil, fmt.Errorf("a text has at most %d characters, and this has %d", maxText, units)
			}
			b = record(b, 0x00fd, binary.LittleEndian.AppendUint32(head, w.text(value)))
		case float64:
			run := numbers(row[column:])
			switch len(run) {
			case 0:
				b = record(b, 0x0203, binary.LittleEndian.AppendUint64(head, math.Float64bits(value)))
			case 1:
				b = record(b, 0x027e, binary.LittleEndian.AppendUint32(head, run[0]))
			default:
				b = record(b, 0x00bd, several(n, column, run))
				column += len(run) - 1
			}
		default:
			return nil, fmt.Errorf("a value of type %T cannot be written: use a string, a float64 or nil", value)
		}
	}
	return b, nil
}

// numbers returns the numbers of four bytes with which a row begins.
func numbers(row []any) (run []uint32) {
	for _, value := range row {
		x, ok := value.(float64)
		if !ok {
			break
		}
		bits, ok := shortNumber(x)
		if !ok {
			break
		}
		run = append(run, bits)
	}
	return run
}

// several returns the data of a record with the numbers of adjacent columns.
func several(row, column int, run []uint32) []byte {
	data := words(row, column)
	for _, bits := range run {
		data = append(data, words(cellFormat)...)
		data = binary.LittleEndian.AppendUint32(data, bits)
	}
	return append(data, words(column+len(run)-1)...)
}

// shortNumber returns a number in four bytes, if that is exact: an integer, or the
// hundredth of one, or a double whose lower bits are zero.
func shortNumber(x float64) (bits uint32, ok bool) {
	const most = 1 << 29
	if x == 0 && math.Signbit(x) {
		return 0, false
	}
	for hundredth, n := range []float64{x, math.Round(x * 100)} {
		if n != math.Trunc(n) || math.Abs(n) >= most {
			continue
		}
		if hundredth == 0 || n/100 == x {
			return uint32(int32(n))<<2 | 2 | uint32(hundredth), true
		}
	}
	if full := math.Float64bits(x); full<<30 == 0 {
		return uint32(full >> 32), true
	}
	return 0, false
}
