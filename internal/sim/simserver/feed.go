package simserver

import (
	"bytes"
	"encoding/xml"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/market"
)

// maxItems bounds the feed. The real one is far below it. A simulated market that
// publishes day and night would exceed it.
const maxItems = 250

// closing returns the close of the last session, at which the feed begins.
func closing(now time.Time) time.Time {
	at := func(d disclosure.Day) time.Time {
		y, month, date := d.Start().Date()
		return time.Date(y, month, date, 17, 35, 0, 0, disclosure.Madrid)
	}
	d := disclosure.DayOf(now)
	if market.IsWorkingDay(d) && !now.Before(at(d)) {
		return at(d)
	}
	for d--; !market.IsWorkingDay(d); d-- {
	}
	return at(d)
}

// window returns the reports since the close of the last session, newest first.
func (s *Server) window(r *request) []*archive.Report {
	since := closing(r.now)
	if r.cut.After(since) {
		since = r.cut
	}
	return s.archive.Newest(r.series, maxItems, disclosure.DayOf(since), func(f *archive.Report) bool {
		return !f.PublishedAt.Before(since) && (r.below == 0 || f.Number < r.below)
	})
}

// channels are the title, the link and the description of the feeds.
var channels = map[disclosure.Type][3]string{
	disclosure.IP: {
		"CNMV - Informacion privilegiada.", "/Portal/Informacion-Privilegiada/AlDia-IP.aspx",
		"Información privilegiada del día (Desde el cierre de la sesión anterior).",
	},
	disclosure.HR: {
		"CNMV - Hechos relevantes de IIC y otras entidades autorizadas.", "/Portal/HR/HRAlDia.aspx",
		"Hechos relevantes de IIC y otras entidades autorizadas al día. Entre las fechas: {from}  (Desde el cierre de la sesión) y {to}",
	},
	disclosure.OIR: {
		"CNMV - Otra informacion relevante.", "/Portal/Otra-Informacion-Relevante/AlDia-OIR.aspx",
		"Otra información relevante del día (Desde el cierre de la sesión anterior).",
	},
}

// feed answers the feed. It is polled every second, so that the last one is cached
// until something changes.
func (s *Server) feed(r *request) answer {
	key := strconv.Itoa(s.archive.Published()) + closing(r.now).String() + disclosure.DayOf(r.now).String() + r.skew.String() + strconv.FormatInt(r.cut.UnixNano(), 10) + "/" + strconv.FormatInt(r.below, 10)
	cached := &s.feeds[r.series.Index()]
	cached.Lock()
	defer cached.Unlock()
	if cached.key != key {
		cached.key, cached.body = key, makeFeed(s.window(r), r)
	}
	return answer{status: http.StatusOK, kind: "text/xml; charset=utf-8", body: cached.body}
}

func makeFeed(rows []*archive.Report, r *request) []byte {
	c := channels[r.series]
	slashed := func(at time.Time) string { return at.In(disclosure.Madrid).Format("02/01/2006") }
	c[2] = strings.NewReplacer("{from}", slashed(closing(r.now)), "{to}", slashed(r.now)).Replace(c[2])
	b := []byte("<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n" +
		"<rss xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" version=\"2.0\">\r\n" +
		"  <Channel>\r\n    <title>" + c[0] + "</title>\r\n    <link>" + archive.Origin + c[1] + "</link>\r\n    <description>" + c[2] +
		"</description>\r\n    <generator>CNMV RSS</generator>\r\n    <language>es</language>\r\n    <ttl>15</ttl>\r\n" +
		"    <image><Title>Comisión nacional del mercado de valores</Title><Link>http://regulator.example</Link><Url>http://regulator.example/images/cnmv_logo.gif</Url></image>\r\n")
	for _, f := range rows {
		b = appendItem(b, f, r.skew)
	}
	return append(b, "  </Channel>\r\n</rss>"...)
}

func appendItem(b []byte, f *archive.Report, skew time.Duration) []byte {
	name := f.CompanyName
	if f.Ticker != "" { // another issuer filed it about this one
		name += " (" + f.Ticker + ")"
	}
	at := f.PublishedAt.Add(skew)
	b = appendXML(append(b, "    <item>\r\n      <Title>"...), name)
	b = append(b, "</Title>\r\n      <link><![CDATA["+f.SourceURL+"]]></link>\r\n      <guid isPermaLink=\"true\"><![CDATA["+f.SourceURL+"]]></guid>\r\n      <pubDate>"...)
	b = at.UTC().AppendFormat(b, http.TimeFormat)
	b = append(b, "</pubDate>\r\n      <description><![CDATA[<p><b>"...)
	b = at.In(disclosure.Madrid).AppendFormat(b, "15:04  02/01/2006  ")
	b = append(b, "</b> "...)
	b = appendText(b, f.Category)
	if f.Type == disclosure.HR && !strings.Contains(f.Category, " - ") {
		b = append(b, " - "...) // separates a second category
	}
	b = append(b, "<BR/><BR/>"...)
	b = appendText(b, f.Title) // without > it cannot end the section
	return append(b, "</p>]]></description>\r\n    </item>\r\n"...)
}

func appendXML(b []byte, s string) []byte {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(s)) // a buffer never fails
	return append(b, out.Bytes()...)
}

// home answers the first page of the site: the newest reports of two series, with
// hours that are not padded.
func (s *Server) home(r *request) answer {
	b := []byte("<div id=\"carrusel\">\r\n")
	for _, part := range []struct {
		series disclosure.Type
		most   int
	}{{disclosure.OIR, 6}, {disclosure.IP, 12}} {
		for _, f := range s.archive.Newest(part.series, part.most, disclosure.DayOf(r.now)-60, func(*archive.Report) bool { return true }) {
			at := f.PublishedAt.Add(r.skew).In(disclosure.Madrid)
			b = append(b, "<div class=\"card\"><p class=\"fecha\">"...)
			b = at.AppendFormat(b, "02/01/2006 - ")
			b = append(b, strconv.Itoa(at.Hour())+at.Format(":04")+"</p><a href=\""...)
			b = appendAttr(b, f.SourceURL)
			b = appendText(append(b, "\">"...), f.CompanyName)
			b = appendText(append(b, "</a><p>"...), f.Title)
			b = append(b, "</p></div>\r\n"...)
		}
	}
	return page{title: "Mercado simulado", content: append(b, "</div>"...)}.answer()
}
