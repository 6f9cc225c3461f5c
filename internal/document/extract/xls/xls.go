// Package xls reads the cells of workbooks in the format of Excel 97 to 2003: BIFF8
// records in an OLE2 compound file. It reads values only, without formats, formulas
// and pictures.
//
// It has its own reader because the few of the format's records that hold values are
// small, while the libraries for it are unmaintained and panic on damaged files. A
// workbook comes from an untrusted source: Read runs in the confined child process,
// everything that it reads has a bound, and no input makes it panic or run for long.
package xls

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Limits of a workbook. The largest known one, the register of net short positions,
// has a tenth of these.
const (
	MaxBytes   = 16 << 20
	MaxSheets  = 64
	MaxRows    = 1 << 16 // of a sheet, as in the format
	MaxColumns = 1 << 8  // of a sheet, as in the format
	MaxCells   = 1 << 20 // that have a value, of all sheets
	MaxText    = 32 << 20
	maxRecords = 4 << 20 // of all sheets
)

// Error is the error of a file that is not a workbook, or one that cannot be read.
// Another attempt has the same result.
type Error struct{ Reason string }

func (e *Error) Error() string { return "the workbook cannot be read: " + e.Reason }

func invalid(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// IsInvalid reports whether err is an *Error.
func IsInvalid(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}

// Book is the content of a workbook.
type Book struct {
	Date1904 bool // whether dates that are numbers count from 1904
	Sheets   []Sheet
}

// Sheet is a sheet of cells. Sheets of charts and macros have no rows.
type Sheet struct {
	Name string
	Rows []Row // those that have a value, by number
}

// Row is a row of a sheet.
type Row struct {
	Number int    // from 1, as Excel shows it
	Cells  []Cell // those that have a value, by column
}

// Kind is the type of a value.
type Kind uint8

// The kinds.
const (
	None Kind = iota // there is no value
	Text
	Number
	Bool    // Number is 0 or 1
	Failure // Number is the code of the error
)

// Cell is a value in a column.
type Cell struct {
	Column int // from 0
	Kind   Kind
	Text   string
	Number float64
}

// Cell returns the cell in a column, of kind None if it is empty.
func (r Row) Cell(column int) Cell {
	n, ok := slices.BinarySearchFunc(r.Cells, column, func(c Cell, column int) int { return cmp.Compare(c.Column, column) })
	if !ok {
		return Cell{Column: column}
	}
	return r.Cells[n]
}

// Decimal returns a number in the shortest form that has the 15 digits which Excel
// shows at most, with a decimal point and without an exponent.
func (c Cell) Decimal() string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(c.Number, 'e', 14, 64), 64)
	if err != nil {
		rounded = c.Number
	}
	if rounded == 0 {
		return "0" // not -0
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// String returns the value as text.
func (c Cell) String() string {
	switch c.Kind {
	case Text:
		return c.Text
	case Number:
		return c.Decimal()
	case Bool:
		return strings.ToUpper(strconv.FormatBool(c.Number != 0))
	case Failure:
		return "#ERROR"
	}
	return ""
}

// ColumnName returns the letters of a column: A, B, …, IV.
func ColumnName(column int) string {
	if column < 0 {
		return "?"
	}
	name := string(rune('A' + column%26))
	if column >= 26 {
		name = ColumnName(column/26-1) + name
	}
	return name
}

// Read reads a workbook. The error is an *Error.
func Read(file []byte) (Book, error) {
	if len(file) > MaxBytes {
		return Book{}, invalid("it is larger than %d MB", MaxBytes>>20)
	}
	stream, err := workbookStream(file)
	if err != nil {
		return Book{}, err
	}
	return readStream(stream)
}

// finite reports whether a number can be a value.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
