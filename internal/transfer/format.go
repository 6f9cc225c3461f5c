package transfer

import (
	"encoding/csv"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"pregon/internal/disclosure"
	"pregon/internal/server/content"
)

// Format is the format of a file.
type Format string

// The formats. Only JSON Lines can be imported again. The other two have the same
// columns: see reportRow, issuerRow and positionRow.
const (
	JSONLines Format = "jsonl"
	CSV       Format = "csv"
	Parquet   Format = "parquet"
)

// Formats are all formats.
var Formats = []Format{JSONLines, CSV, Parquet}

// table writes rows of a struct type, whose parquet tags name the columns.
type table[Row any] interface {
	write(*Row) error
	close() error
}

func newTable[Row any](w io.Writer, format Format, about map[string]string) table[Row] {
	if format == Parquet {
		return newParquetTable[Row](w, about)
	}
	return newCSVTable[Row](w)
}

const (
	rowBatch = 256 // rows that are passed to the Parquet writer at once
	// rowGroup bounds the memory of the Parquet writer, which holds the pages of a
	// row group until it is complete.
	rowGroup = 50_000
)

type parquetTable[Row any] struct {
	out  *parquet.GenericWriter[Row]
	rows []Row
}

func newParquetTable[Row any](w io.Writer, about map[string]string) *parquetTable[Row] {
	options := []parquet.WriterOption{
		// Not parquet.Zstd, which keeps its encoders for the whole process.
		parquet.Compression(&zstd.Codec{}),
		parquet.MaxRowsPerRowGroup(rowGroup),
		parquet.CreatedBy("pregon", "", ""),
	}
	for name, value := range about {
		options = append(options, parquet.KeyValueMetadata("pregon."+name, value))
	}
	return &parquetTable[Row]{out: parquet.NewGenericWriter[Row](w, options...)}
}

func (t *parquetTable[Row]) write(row *Row) error {
	if t.rows = append(t.rows, *row); len(t.rows) < rowBatch {
		return nil
	}
	return t.flush()
}

func (t *parquetTable[Row]) flush() error {
	_, err := t.out.Write(t.rows)
	t.rows = t.rows[:0]
	return err
}

func (t *parquetTable[Row]) close() error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.out.Close()
}

// csvTable writes CSV as the API does: the same separators, cells and line ends.
type csvTable[Row any] struct {
	out   *csv.Writer
	cells []string
}

func newCSVTable[Row any](w io.Writer) *csvTable[Row] {
	t := &csvTable[Row]{out: content.NewCSVWriter(w, content.PlainCSV)}
	names := columns[Row]()
	t.cells = make([]string, len(names))
	_ = t.out.Write(names) // an error is returned by close
	return t
}

// columns returns the names of the columns of a row.
func columns[Row any]() (names []string) {
	for field := range reflect.TypeFor[Row]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		names = append(names, name)
	}
	return names
}

func (t *csvTable[Row]) write(row *Row) error {
	value := reflect.ValueOf(row).Elem()
	for i := range t.cells {
		t.cells[i] = cell(value.Field(i).Interface())
	}
	return t.out.Write(t.cells)
}

func (t *csvTable[Row]) close() error {
	t.out.Flush()
	return t.out.Error()
}

// cell returns a value as text. A null is empty.
func cell(value any) string {
	switch value := value.(type) {
	case string:
		return content.Cell(value)
	case []string:
		cells := make([]string, len(value))
		for i, s := range value {
			cells[i] = content.Cell(s)
		}
		return strings.Join(cells, content.ListSeparator)
	case bool:
		return strconv.FormatBool(value)
	case int64:
		if value == 0 {
			return ""
		}
		return strconv.FormatInt(value, 10)
	case *time.Time:
		if value == nil {
			return ""
		}
		return value.In(disclosure.Madrid).Format(time.RFC3339Nano)
	}
	panic("unreachable: rows have no other types")
}
