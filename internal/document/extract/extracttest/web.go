package extracttest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
)

// AnnualReport returns an annual report in XHTML as listed companies file it, with
// facts that are not displayed.
func AnnualReport(paragraphs ...string) []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"><head><title>Informe</title><style>p { color: red }</style><script src="x.js"/></head>
<body><div style="display:none"><ix:header><ix:hidden><ix:nonNumeric name="a">HECHO OCULTO</ix:nonNumeric></ix:hidden></ix:header></div>
<h1>Informe financiero anual</h1>`)
	for _, p := range paragraphs {
		fmt.Fprintf(&b, "<p>%s</p>\n", p)
	}
	b.WriteString(`<table><tr><th>Concepto</th><th>2025</th></tr><tr><td><p>Ingresos</p></td><td><ix:nonFraction name="b" scale="6">1.234</ix:nonFraction></td></tr></table>
<img src="data:image/png;base64,` + strings.Repeat("iVBORw0KGgo", 1000) + `"/></body></html>`)
	return []byte(b.String())
}

// SitePage returns a page of the regulator's portal.
func SitePage() []byte {
	return []byte(`<!DOCTYPE html><html lang="es"><head><title>Portal</title></head><body>
<form method="post" action="./verdoc.axd" id="aspnetForm"><div class="aspNetHidden"><input type="hidden" name="__VIEWSTATE" id="__VIEWSTATE" value="/wEPDwUK" /></div>
<div id="portal"><p>El documento solicitado no está disponible.</p></div></form></body></html>`)
}

// Member is a file of a package.
type Member struct {
	Name string
	Body []byte
}

// ZIP returns a package. Large files are stored, not compressed.
func ZIP(members ...Member) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.Name, Method: zip.Deflate}
		if len(m.Body) > 1<<20 {
			h.Method = zip.Store
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(m.Body)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// ZIPBomb returns a small package with a report that expands to 100 MB.
func ZIPBomb() []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.Create("reports/informe.xhtml")
	w.Write([]byte("<html><body><p>"))
	row := bytes.Repeat([]byte("a "), 1<<19)
	for range 100 {
		w.Write(row)
	}
	z.Close()
	return b.Bytes()
}
