package regulator_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/regulator"
)

func wantValid(t *testing.T, rows []regulator.Row) {
	t.Helper()
	for _, row := range rows {
		report := row.Report(time.Date(2026, 9, 21, 12, 0, 0, 0, time.UTC))
		if err := report.Validate(); err != nil {
			t.Error(err)
		}
		if row.Number == 0 || row.Name == "" || row.Title == "" || row.At.IsZero() || row.Surface == "" {
			t.Errorf("half a row: %+v", row)
		}
	}
}

func seed(f *testing.F, names ...string) {
	for _, name := range names {
		f.Add(read(f, name))
	}
}

// wantLines checks that the lines of defects are in the page.
func wantLines(t *testing.T, body []byte, err error) {
	t.Helper()
	if e, ok := errors.AsType[*regulator.MarkupError](err); ok {
		if len(e.Defects) == 0 {
			t.Errorf("%v has no defects", err)
		}
		for _, d := range e.Defects {
			if d.Line < 0 || d.Line > 1+bytes.Count(body, []byte{'\n'}) {
				t.Errorf("the page has no line %d: %s", d.Line, d.Text)
			}
		}
	}
}

func FuzzParseFeed(f *testing.F) {
	seed(f, "feed-oir.xml", "feed-empty.xml")
	f.Fuzz(func(t *testing.T, body []byte) {
		rows, err := regulator.ParseFeed(disclosure.OIR, body, regulator.PublicOrigin)
		wantValid(t, rows)
		wantLines(t, body, err)
	})
}

func FuzzParseList(f *testing.F) {
	seed(f, "list-oir.html", "list-2020.html", "hr-entity.html", "funds.html")
	f.Fuzz(func(t *testing.T, body []byte) {
		if at := regulator.Skip(body); at > 0 && (at >= len(body) || body[at] != '<') {
			t.Errorf("the page does not begin with a tag at %d", at)
		}
		for _, kind := range disclosure.Types {
			list, err := regulator.ParseList(kind, body, regulator.SimulatedOrigin)
			wantValid(t, list.Rows)
			wantLines(t, body, err)
			if list.Pages < 1 || list.Page < 0 {
				t.Errorf("page %d of %d", list.Page, list.Pages)
			}
			if err == nil && !bytes.Contains(bytes.ToLower(body), []byte("primernivel")) {
				t.Error("a page without a list passes")
			}
		}
	})
}

func FuzzParsePermalink(f *testing.F) {
	seed(f, "permalink-oir.html", "list-oir.html")
	f.Fuzz(func(t *testing.T, body []byte) {
		row, err := regulator.ParsePermalink(disclosure.OIR, 50374, body, regulator.PublicOrigin)
		if err == nil {
			wantValid(t, []regulator.Row{row})
		}
	})
}

func FuzzParseEntities(f *testing.F) {
	seed(f, "funds.html")
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := regulator.ParseEntities(regulator.FundRegisters[0], body)
		wantLines(t, body, err)
		for _, e := range got.Entities {
			issuer := e.Issuer()
			if err := issuer.Validate(); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzParseFundRecords(f *testing.F) {
	f.Add(read(f, "fondregistro.xml"))
	f.Add([]byte(companies))
	f.Fuzz(func(t *testing.T, member []byte) {
		_, _ = regulator.ParseFundRecordsWithin(member, 1<<20) // hardly ever an archive
		records, _ := regulator.ParseFundRecordsWithin(archive(t, "FONDREGISTRO.xml", string(member)), 1<<20)
		for _, r := range records {
			e := regulator.Entity{Register: r.Register, Number: r.Number, Name: r.Name}
			issuer := e.Issuer()
			issuer.ISINs = r.ISINs
			if err := issuer.Validate(); err != nil {
				t.Error(err)
			}
		}
	})
}
