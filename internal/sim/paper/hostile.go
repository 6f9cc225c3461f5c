package paper

import (
	"bytes"
	"compress/flate"
	"fmt"
	"hash/adler32"
	"strings"
	"sync"

	"pregon/internal/sim/filler"
	"pregon/internal/sim/paper/pdf"
)

// hostile are the forms that harm or mislead a reader. Each is made from the good
// document.
var hostile = map[string]func(good File) File{
	"corrupt":  func(good File) File { return File{good.ContentType, garbage(len(good.Body))} },
	"cut":      func(good File) File { return File{good.ContentType, good.Body[:len(good.Body)*2/3]} },
	"empty":    func(good File) File { return File{good.ContentType, []byte{}} },
	"locked":   func(File) File { return File{contentPDF, locked()} },
	"bomb":     func(File) File { return File{contentPDF, pageBomb()} },
	"cycle":    func(File) File { return File{contentPDF, cycle()} },
	"billions": func(File) File { return File{contentPDF, billions()} },
	"word":     func(File) File { return File{"application/msword", word()} },
	WebPage:    func(good File) File { return good },
}

// WebPage is the form of a report whose link leads to a page of the site. The
// server replaces the document with that page.
const WebPage = "page"

// IsHostile reports whether a form harms or misleads a reader.
func IsHostile(form string) bool { return hostile[form] != nil }

// Damage returns a hostile form of a good document, or the document itself if the
// form is not hostile.
func Damage(form string, good File) File {
	if damage := hostile[form]; damage != nil {
		return damage(good)
	}
	return good
}

// garbage returns random bytes behind the header of a PDF file.
func garbage(size int) []byte {
	b := []byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	for n := uint64(1); len(b) < max(size, 512); n++ {
		b = append(b, byte(filler.Mix(n)>>9))
	}
	return b
}

// locked returns an encrypted file that no password opens: the values that verify a
// password are random.
func locked() []byte {
	secret := func(from uint64) string {
		var b strings.Builder
		for n := range uint64(32) {
			fmt.Fprintf(&b, "%02X", byte(filler.Mix(from+n)>>13))
		}
		return b.String()
	}
	o := onePage("", garbage(600))
	encryption := o.Add("<< /Filter /Standard /V 2 /R 3 /Length 128 /P -3904 /O <" + secret(1) + "> /U <" +
		secret(99) + "> >>")
	id := secret(500)[:32]
	return o.Bytes(fmt.Sprintf("/Root 1 0 R /Encrypt %v /ID [<%s> <%s>]", encryption, id, id))
}

// onePage returns a file with one page. Its objects are the catalogue, the tree of
// pages, the page, its content and the font.
func onePage(entries string, content []byte) *pdf.File {
	o := &pdf.File{}
	o.Add("<< /Type /Catalog /Pages 2 0 R >>")
	o.Add("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	o.Add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 5 0 R >> >> " +
		"/Contents 4 0 R >>")
	o.AddRawStream(entries, content)
	o.Add(pdf.Helvetica.Dict())
	return o
}

// pageBomb returns a page of a few kilobytes that is compressed twice and expands to
// 256 MB of text. It repeats one compressed megabyte, which is a valid stream and
// takes no time to make.
var pageBomb = sync.OnceValue(func() []byte {
	text := []byte("BT /F1 9 Tf 64 700 Td (Documento simulado) Tj ET\n")
	text = bytes.Repeat(text, 1<<20/len(text))
	var one bytes.Buffer
	z, _ := flate.NewWriter(&one, flate.BestCompression) // the level is valid
	_, _ = z.Write(text)                                 // a buffer never fails
	_ = z.Flush()
	sum := adler32.New()
	inner := []byte{0x78, 0xda}
	for range 256 {
		inner = append(inner, one.Bytes()...)
		_, _ = sum.Write(text)
	}
	inner = sum.Sum(append(inner, 1, 0, 0, 0xff, 0xff)) // an empty last block
	return onePage("/Filter [/FlateDecode /FlateDecode]", pdf.Deflate(inner)).Bytes("/Root 1 0 R")
})

var goodPage = []byte("BT /F1 11 Tf 64 740 Td (Documento simulado) Tj ET\n")

// cycle returns a file whose tree of pages and whose outline contain themselves.
func cycle() []byte {
	o := onePage("", goodPage)
	o.Set(1, "<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>")
	o.Set(2, "<< /Type /Pages /Kids [7 0 R 3 0 R] /Parent 7 0 R /Count 2 >>")
	o.Add("<< /Type /Outlines /First 6 0 R /Last 6 0 R /Next 6 0 R /Title (Bucle) /Count 1 >>")
	o.Add("<< /Type /Pages /Kids [2 0 R 7 0 R] /Parent 2 0 R /Count 2 >>")
	return o.Bytes("/Root 1 0 R")
}

// billions returns a file with one page that claims two billion.
func billions() []byte {
	o := onePage("", goodPage)
	o.Set(2, "<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>")
	return o.Bytes("/Root 1 0 R")
}

// word returns a document of a word processor.
var word = sync.OnceValue(func() []byte {
	return Zip([]Member{
		{"[Content_Types].xml", []byte(`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`)},
		{"word/document.xml", []byte(`<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>`)},
	})
})
