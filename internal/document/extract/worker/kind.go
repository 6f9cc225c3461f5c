package worker

import (
	"bytes"
	"net/http"
	"strings"

	"pregon/internal/document/extract"
)

// typeOf returns the type of a document by its first bytes.
func typeOf(body []byte) (extract.Type, error) {
	head := body[:min(len(body), 64<<10)]
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return extract.ZIP, nil // before PDF, because its first file may be a PDF that is not compressed
	case bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-")):
		return extract.PDF, nil
	case isHTML(head):
		return extract.HTML, nil
	case len(bytes.Trim(head, "\x00 \t\r\n")) == 0:
		return "", &extract.Unreadable{Reason: "it is empty"}
	}
	return "", &extract.Unreadable{Reason: "it is not a PDF, HTML or ZIP file: it begins like " + formatName(head)}
}

// isHTML reports whether a file begins like HTML or XHTML.
func isHTML(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		head = bytes.ReplaceAll(head[2:], []byte{0}, nil) // UTF-16, of which only the ASCII characters matter here
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	if strings.HasPrefix(http.DetectContentType(head), "text/html") {
		return true
	}
	head = bytes.ToLower(head)
	if !bytes.HasPrefix(head, []byte("<")) {
		return false
	}
	return bytes.Contains(head, []byte("<html")) || bytes.Contains(head, []byte(":html")) ||
		bytes.HasPrefix(head, []byte("<!doctype html"))
}

// formats are common formats that are not read, by their first bytes.
var formats = []struct{ prefix, name string }{
	{"\xd0\xcf\x11\xe0", "an old Word or Excel document"},
	{"{\\rtf", "an RTF document"},
	{"\x89PNG", "a PNG picture"},
	{"\xff\xd8\xff", "a JPEG picture"},
	{"GIF8", "a GIF picture"},
	{"II*\x00", "a TIFF picture"},
	{"MM\x00*", "a TIFF picture"},
	{"\x1f\x8b", "a gzip file"},
	{"Rar!", "a RAR package"},
	{"7z\xbc\xaf", "a 7-Zip package"},
	{"%!PS", "a PostScript document"},
	{"\x7fELF", "a program"},
	{"MZ", "a program"},
	{"<?xml", "an XML file"},
	{"\xef\xbb\xbf<?xml", "an XML file"},
	{"{", "a JSON file"},
}

func formatName(head []byte) string {
	for _, f := range formats {
		if bytes.HasPrefix(head, []byte(f.prefix)) {
			return f.name
		}
	}
	if strings.HasPrefix(http.DetectContentType(head), "text/plain") {
		return "plain text"
	}
	return "an unknown format"
}
