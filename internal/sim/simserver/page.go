package simserver

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
)

const html = "text/html; charset=utf-8"

// page is a page of the site.
type page struct {
	title   string
	newest  time.Time // of the first row, or zero
	content []byte
}

// answer returns the page. Its head has local times with a wrong zone, as the site
// has.
func (p page) answer() answer {
	b := make([]byte, 0, len(before())+len(p.content)+4096)
	b = append(b, "<!DOCTYPE html>\r\n<html lang=\"es\" xml:lang=\"es\">\r\n<head id=\"ctl00_head\"><meta charset=\"utf-8\" />\r\n<title>CNMV - "...)
	b = appendText(b, p.title)
	b = append(b, "</title>\r\n<meta name=\"title\" content=\""...)
	b = appendAttr(b, p.title)
	b = append(b, "\" />\r\n<meta name=\"description\" content=\"CNMV - "...)
	b = appendAttr(b, p.title+" (mercado simulado: nada de esto es real)")
	b = append(b, "\" />\r\n"...)
	if !p.newest.IsZero() {
		b = append(b, "<meta name=\"article:published_time\" content=\""...)
		b = p.newest.In(disclosure.Madrid).AppendFormat(b, "2006-01-02T15:04:05Z")
		b = append(b, "\" />\r\n"...)
	}
	b = append(b, before()...)
	b = append(b, "<h1 id=\"ctl00_lblSubtitulo\">"...)
	b = appendText(b, p.title)
	b = append(b, "</h1>\r\n"...)
	b = append(b, p.content...)
	return answer{kind: html, body: append(b, after...)}
}

const after = "\r\n</div></main></form>\r\n<footer><ul class=\"redes\"><li><a href=\"https://regulator.example/\">Mercado simulado</a></li></ul></footer>\r\n</body></html>\r\n"

// before is the part of every page before its content: styles, a menu and the state
// of its form. It is most of the page.
var before = sync.OnceValue(func() []byte {
	var b strings.Builder
	b.WriteString("<link rel=\"stylesheet\" href=\"/portal/css/estilos.css\" />\r\n</head>\r\n<body>\r\n" +
		"<form method=\"post\" action=\"./resultado\" id=\"aspnetForm\">\r\n<div class=\"aspNetHidden\">\r\n" +
		"<input type=\"hidden\" name=\"__VIEWSTATE\" id=\"__VIEWSTATE\" value=\"")
	state := make([]byte, 60_000)
	for n := range state {
		state[n] = byte(filler.Mix(uint64(n)) >> 11)
	}
	b.WriteString(base64.StdEncoding.EncodeToString(state))
	b.WriteString("\" />\r\n</div>\r\n<nav id=\"menu\"><ul class=\"menu\">\r\n")
	for n := range 520 {
		id := strconv.Itoa(n)
		b.WriteString("  <li id=\"ctl00_menu_li" + id + "\" class=\"menu-item\"><a id=\"ctl00_menu_hl" + id + "\" class=\"submit\" href=\"/portal/Menu/Apartado-" +
			id + ".aspx\" title=\"Ir a la secci&#243;n simulada n&#250;mero " + id + "\"><span class=\"menu-texto\">Apartado simulado número " + id + "</span></a></li>\r\n")
	}
	b.WriteString("</ul></nav>\r\n<main><div id=\"ctl00_ContentPrincipal\" class=\"contenido\">\r\n")
	return []byte(b.String())
})

// appendText appends text to HTML as the site does: it does not escape an ampersand
// before a space.
func appendText(b []byte, s string) []byte {
	for n := range len(s) {
		switch c := s[n]; {
		case c == '<':
			b = append(b, "&lt;"...)
		case c == '>':
			b = append(b, "&gt;"...)
		case c == '&' && n+1 < len(s) && s[n+1] != ' ': // could be parsed as an entity
			b = append(b, "&amp;"...)
		default:
			b = append(b, c)
		}
	}
	return b
}

// appendAttr appends the value of an attribute, with numeric entities for
// characters outside ASCII.
func appendAttr(b []byte, s string) []byte {
	for _, c := range s {
		switch {
		case c == '&':
			b = append(b, "&amp;"...)
		case c == '"':
			b = append(b, "&quot;"...)
		case c == '<':
			b = append(b, "&lt;"...)
		case c >= 0x80:
			b = append(b, "&#"...)
			b = strconv.AppendInt(b, int64(c), 10)
			b = append(b, ';')
		default:
			b = append(b, byte(c))
		}
	}
	return b
}

// errorPage answers the target of the redirects forbidden and badRequest.
func errorPage(r *request) answer {
	code := r.URL.Query().Get("errorcode")
	a := page{title: "Error", content: []byte("<div id=\"ctl00_ContentPrincipal_divError\" class=\"error\"><p>Verifique la ruta de acceso.</p></div>")}.answer()
	switch code {
	case "CVFE":
		a.status = http.StatusForbidden
	case "HE":
		a.status = http.StatusBadRequest
	}
	return a
}
