package extract_test

import (
	"bytes"
	"strings"
	"testing"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
)

func member(name string, body []byte) extracttest.Member {
	return extracttest.Member{Name: name, Body: body}
}

func TestPackage(t *testing.T) {
	report := extracttest.AnnualReport(first)
	text := read(t, extracttest.ZIP(
		member("informe/META-INF/reports.json", []byte("{}")),
		member("informe/otro.pdf", good()),
		member("informe/reports/informe.xhtml", report),
	))
	if text.Type != extract.ZIP || len(text.Pages) != 1 || !strings.Contains(text.Pages[0].Text, first) {
		t.Errorf("got %s with pages %v, want a zip with the report", text.Type, text.Pages)
	}
	text = read(t, extracttest.ZIP(member("../../etc/a.pdf", good()), member(`b\c.HTM`, report), member("d.pdf", []byte("%PDF-"))))
	if len(text.Pages) != 2 || text.Pages[0].Text != "Hola" || len(text.Outline) != 1 || text.Outline[0].Page != 2 {
		t.Errorf("got pages %v and outline %v, want both documents", text.Pages, text.Outline)
	}
	if len(text.Notes) != 1 || !strings.Contains(text.Notes[0], "d.pdf could not be read") {
		t.Errorf("got notes %q, want one about d.pdf", text.Notes)
	}
}

func TestUnreadablePackage(t *testing.T) {
	encrypted := extracttest.ZIP(member("a.html", []byte("<html>x")))
	for _, begin := range []string{"PK\x03\x04\x14\x00", "PK\x01\x02\x14\x00\x14\x00"} {
		encrypted[bytes.Index(encrypted, []byte(begin))+len(begin)] |= 1
	}
	for _, test := range []struct {
		name   string
		body   []byte
		reason string
	}{
		{"nothing", extracttest.ZIP(), "it is a package without a PDF or HTML file"},
		{"nothing of use", extracttest.ZIP(member("a.txt", []byte("a"))), "it is a package without a PDF or HTML file"},
		{"packages", extracttest.ZIP(member("a.zip", extracttest.ZIP(member("a.pdf", good())))), "it is a package of packages"},
		{"a package by another name", extracttest.ZIP(member("a.pdf", extracttest.ZIP(member("a.pdf", good())))), "it is a package within a package"},
		{"Word", extracttest.ZIP(member("word/document.xml", []byte("<x/>"))), "it begins like a Word document"},
		{"cut off", extracttest.ZIP(member("a.pdf", good()))[:300], "it is cut off or corrupt"},
		{"too many", append([]byte("PK\x03\x04"), bytes.Repeat([]byte("PK\x01\x02"), 6000)...), "more than 5000 files"},
		{"encrypted", encrypted, "it is encrypted and needs a password"},
		{"a document that is not", extracttest.ZIP(member("a.pdf", []byte("%PDF-1.4 nothing"))), "it is cut off or corrupt"},
	} {
		t.Run(test.name, func(t *testing.T) { unreadable(t, shared(t), test.body, test.reason) })
	}
}
