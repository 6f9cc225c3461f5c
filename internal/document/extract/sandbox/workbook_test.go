package sandbox

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pregon/internal/document/extract/xls"
)

// FuzzServeWorkbooks sends arbitrary bytes to a child that reads workbooks. It must end,
// and the parent must accept every frame that it sends.
func FuzzServeWorkbooks(f *testing.F) {
	hello := frame{kind: setup, body: []byte(`{"workbooks":true}`)}
	f.Add([]byte{})
	f.Add(frames(hello, frame{workbook, 1, []byte("a")}, frame{workbook, 2, []byte("panic")}, frame{workbook, 3, []byte("bad")}))
	f.Add(frames(hello, frame{workbook, 1, []byte("own")}, frame{document, 2, []byte("a")}))
	f.Add(frames(hello, hello))
	read := Program{Workbook: func(body []byte) (xls.Book, error) {
		switch string(body) {
		case "panic":
			panic("requested by the workbook")
		case "bad":
			return xls.Book{}, &xls.Error{Reason: strings.Repeat("x", 5000)}
		case "own":
			return xls.Book{}, errors.New(strings.Repeat("x", 5000))
		}
		return xls.Book{Sheets: []xls.Sheet{{Name: "A"}}}, nil
	}}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 1<<16 {
			return
		}
		workbooks := false
		var out bytes.Buffer
		err := serve(bytes.NewReader(in), &out, func(s Settings) (Engine, greeting, error) {
			if workbooks = s.Workbooks; !workbooks {
				return echo{}, greeting{}, nil
			}
			return read.start(s)
		})
		for workbooks && out.Len() > 0 {
			answer, failed := readFrame(&out, fromBookChild)
			if failed != nil {
				t.Fatalf("got frame error %v after serve returned %v, want none", failed, err)
			}
			if _, failed := xls.Decode(answer.body); answer.kind == cells && failed != nil {
				t.Fatal(failed)
			}
		}
	})
}
