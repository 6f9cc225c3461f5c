package extract_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/document/extract/xls"
	paper "pregon/internal/sim/paper/xls"
)

// TestWorkbook reads workbooks, and what is none, in the confined process.
func TestWorkbook(t *testing.T) {
	books := sandbox.NewBooks(options(t))
	defer books.Close()
	good, err := paper.Book([]paper.Sheet{
		{Name: "Última_-_Current", Rows: [][]any{nil, {"ZÜRICHER ficticio", 0.49, 2.547}}},
		{Name: "Hoja2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a child after another
		book, err := books.Workbook(t.Context(), good)
		if err != nil {
			t.Fatal(err)
		}
		if len(book.Sheets) != 2 || book.Sheets[0].Name != "Última_-_Current" || len(book.Sheets[0].Rows) != 1 {
			t.Fatalf("got %+v", book)
		}
		row := book.Sheets[0].Rows[0]
		if row.Number != 2 || row.Cell(0).Text != "ZÜRICHER ficticio" || row.Cell(1).Decimal() != "0.49" || row.Cell(2).Decimal() != "2.547" {
			t.Errorf("got row %+v", row)
		}
	}
	for _, l := range sandbox.Layers {
		if books.Lacks(l) != shared(t).Lacks(l) {
			t.Errorf("the layer %s differs from that of documents", l)
		}
	}
	for _, bad := range [][]byte{nil, []byte("<html></html>"), good[:len(good)/2], make([]byte, xls.MaxBytes+1)} {
		if _, err := books.Workbook(t.Context(), bad); !xls.IsInvalid(err) {
			t.Errorf("%d bytes: got %v, want an *xls.Error", len(bad), err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := books.Workbook(ended, good); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the error of the context", err)
	}
	books.Close()
	if _, err := books.Workbook(t.Context(), good); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

// TestWorkbookIsNoDocument: a reader of documents does not read workbooks.
func TestWorkbookIsNoDocument(t *testing.T) {
	good, err := paper.Book([]paper.Sheet{{Name: "A", Rows: [][]any{{"x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shared(t).Read(t.Context(), good); !extract.IsUnreadable(err) {
		t.Errorf("got %v, want an Unreadable", err)
	}
	if text := read(t, extracttest.AnnualReport("hola")); !strings.Contains(text.Pages[0].Text, "hola") {
		t.Errorf("got %q after it", text.Pages[0].Text)
	}
}
