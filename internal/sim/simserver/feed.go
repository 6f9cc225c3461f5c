package simserver

import (
	"bytes"
	"net/http"
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
	if !market.IsClosed(d) && !now.Before(at(d)) {
		return at(d)
	}
	for d--; market.IsClosed(d); d-- {
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

// feed is the content of a feed.
type feed struct {
	page
	Link, Description string
}

// feeds are those of the series, without their reports.
var feeds = map[disclosure.Type]feed{
	disclosure.IP: {
		page{Title: "CNMV - Informacion privilegiada."},
		"/Portal/Informacion-Privilegiada/AlDia-IP.aspx",
		"Información privilegiada del día (Desde el cierre de la sesión anterior).",
	},
	disclosure.HR: {
		page{Title: "CNMV - Hechos relevantes de IIC y otras entidades autorizadas."},
		"/Portal/HR/HRAlDia.aspx",
		"Hechos relevantes de IIC y otras entidades autorizadas al día. Entre las fechas: {from}  (Desde el " +
			"cierre de la sesión) y {to}",
	},
	disclosure.OIR: {
		page{Title: "CNMV - Otra informacion relevante."},
		"/Portal/Otra-Informacion-Relevante/AlDia-OIR.aspx",
		"Otra información relevante del día (Desde el cierre de la sesión anterior).",
	},
}

// IsOpen reports whether the category of a report ends with the separator of a
// second one that it does not have.
func (feed) IsOpen(r *archive.Report) bool {
	return r.Type == disclosure.HR && !strings.Contains(r.Category, " - ")
}

func (s *Server) feed(r *request) answer {
	f := feeds[r.series]
	slashed := func(at time.Time) string { return at.In(disclosure.Madrid).Format("02/01/2006") }
	f.Description = strings.NewReplacer("{from}", slashed(closing(r.now)), "{to}",
		slashed(r.now)).Replace(f.Description)
	f.Rows, f.Skew = s.window(r), r.skew
	return answer{status: http.StatusOK, kind: "text/xml; charset=utf-8", body: execute(&bytes.Buffer{}, "feed", f)}
}
