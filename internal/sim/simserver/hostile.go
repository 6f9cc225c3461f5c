package simserver

import (
	"bytes"
	"compress/flate"
	"fmt"
	"hash/adler32"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// hostile are the documents that harm or mislead who opens them. Each is made
// of the good one.
var hostile = map[string]func(good answer) answer{
	"corrupt":  func(good answer) answer { good.body = garbage(len(good.body)); return good },
	"cut":      func(good answer) answer { good.body = good.body[:len(good.body)*2/3]; return good },
	"locked":   func(answer) answer { return answer{kind: "application/pdf", body: locked()} },
	"bomb":     func(answer) answer { return answer{kind: "application/pdf", body: pageBomb()} },
	"cycle":    func(answer) answer { return answer{kind: "application/pdf", body: cycle()} },
	"billions": func(answer) answer { return answer{kind: "application/pdf", body: billions()} },
	"empty":    func(good answer) answer { good.body = []byte{}; return good },
	"page":     func(answer) answer { return maintenance() },
	"word":     func(answer) answer { return answer{kind: "application/msword", body: word()} },
}

// spoilt answers a hostile document in the place of a good one. What is no
// document stays as it is.
func spoilt(kind string) func(*Server, http.ResponseWriter, *http.Request, answer) {
	return func(_ *Server, w http.ResponseWriter, r *http.Request, a answer) {
		if a.filed {
			a = hostile[kind](a)
		}
		write(w, r, a)
	}
}

// garbage has a good beginning only.
func garbage(size int) []byte {
	b := []byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	for n := uint64(1); len(b) < max(size, 512); n++ {
		b = append(b, byte(scatter(n)>>9))
	}
	return b
}

// locked is encrypted with a password that nobody knows: what would prove a
// password right is made up.
func locked() []byte {
	secret := func(from uint64) string {
		var b strings.Builder
		for n := range uint64(32) {
			fmt.Fprintf(&b, "%02X", byte(scatter(from+n)>>13))
		}
		return b.String()
	}
	o := onePage(garbage(600))
	lock := o.add("<< /Filter /Standard /V 2 /R 3 /Length 128 /P -3904 /O <" + secret(1) + "> /U <" + secret(99) + "> >>")
	id := secret(500)[:32]
	return o.classic(fmt.Sprintf("/Root 1 0 R /Encrypt %d 0 R /ID [<%s> <%s>]", lock, id, id))
}

// onePage are the objects of a file with one page: a catalogue, the tree of
// pages, the page, its content and a font.
func onePage(content []byte) *objects {
	o := &objects{}
	o.add("<< /Type /Catalog /Pages 2 0 R >>")
	o.add("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	o.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>")
	o.addStream("", content)
	o.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	return o
}

// pageBomb is a page of a few kilobytes that unpacks, twice, to a quarter of a
// gigabyte of text. One packed megabyte is repeated, which is as good a stream
// and costs no time.
var pageBomb = sync.OnceValue(func() []byte {
	text := []byte("BT /F1 9 Tf 64 700 Td (Documento simulado) Tj ET\n")
	text = bytes.Repeat(text, 1<<20/len(text))
	var one bytes.Buffer
	z, _ := flate.NewWriter(&one, flate.BestCompression) // the level is a good one
	_, _ = z.Write(text)                                 // a buffer takes everything
	_ = z.Flush()
	sum := adler32.New()
	inner := []byte{0x78, 0xda}
	for range 256 {
		inner = append(inner, one.Bytes()...)
		_, _ = sum.Write(text)
	}
	inner = sum.Sum(append(inner, 1, 0, 0, 0xff, 0xff)) // the last block, which is empty
	outer := deflate(inner)
	o := onePage(nil)
	o.all[3] = object{fmt.Sprintf("<< /Filter [/FlateDecode /FlateDecode] /Length %d >>", len(outer)), outer}
	return o.classic("/Root 1 0 R")
})

var goodPage = []byte("BT /F1 11 Tf 64 740 Td (Documento simulado) Tj ET\n")

// cycle has a tree of pages, and an outline, that bite their tails.
func cycle() []byte {
	o := onePage(goodPage)
	o.all[0].dict = "<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>"
	o.all[1].dict = "<< /Type /Pages /Kids [7 0 R 3 0 R] /Parent 7 0 R /Count 2 >>"
	o.add("<< /Type /Outlines /First 6 0 R /Last 6 0 R /Next 6 0 R /Title (Bucle) /Count 1 >>")
	o.add("<< /Type /Pages /Kids [2 0 R 7 0 R] /Parent 2 0 R /Count 2 >>")
	return o.classic("/Root 1 0 R")
}

// billions has one page and tells of more than anybody can count.
func billions() []byte {
	o := onePage(goodPage)
	o.all[1].dict = "<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>"
	return o.classic("/Root 1 0 R")
}

// maintenance calls itself a success, as the site's pages do.
func maintenance() answer {
	return page{
		title:   "Servicio en mantenimiento",
		content: []byte("<p>El servicio de consulta de documentos se encuentra en mantenimiento. Disculpe las molestias.</p>"),
	}.answer()
}

// word is a document of a word processor.
var word = sync.OnceValue(func() []byte {
	return zipped([]member{
		{"[Content_Types].xml", []byte(`<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`)},
		{"word/document.xml", []byte(`<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Documento simulado</w:t></w:r></w:p></w:body></w:document>`)},
	})
})

// forms are the documents that a report can be published with.
func forms() []string {
	all := []string{"pdf", "columns", "long", "scan", "xhtml", "zip"}
	for kind := range hostile {
		all = append(all, kind)
	}
	slices.Sort(all[6:])
	return all
}
