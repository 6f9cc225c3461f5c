package simserver

import (
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
)

// latest is the number of rows of the lists of relevant facts.
const latest = 30

// funds is the division that still files relevant facts.
const funds = "2"

// isPrivateEquity reports whether a report is of a manager of private equity, which
// have a list of their own.
func isPrivateEquity(f *archive.Report) bool {
	return f.Issuer != nil && strings.Contains(f.Issuer.Name, "S.G.E.I.C.")
}

func (s *Server) latestFunds(r *request) answer {
	return latestFacts(r, "Últimos hechos relevantes de IIC",
		s.archive.Newest(disclosure.HR, latest, 0, func(f *archive.Report) bool { return !isPrivateEquity(f) }))
}

// latestEquity answers the list of private equity, which covers two months and may
// be empty.
func (s *Server) latestEquity(r *request) answer {
	return latestFacts(r, "Últimos hechos relevantes de capital riesgo",
		s.archive.Newest(disclosure.HR, latest, disclosure.DayOf(r.now)-60, isPrivateEquity))
}

func latestFacts(r *request, title string, rows []*archive.Report) answer {
	return page{title: title, newest: newestOf(rows, r), content: appendRows(nil, rows, r)}.answer()
}

// relevantFacts answers the page of one report, or the list of one issuer. There is
// no list of all issuers. All relevant facts of the market are of funds.
func (s *Server) relevantFacts(r *request) answer {
	q := r.URL.Query()
	if q.Has("nreg") {
		if q.Get("th") != "H" {
			return badRequest
		}
		if q.Get("division") != funds {
			return s.permalink(r, "")
		}
		return s.permalink(r, q.Get("nreg"))
	}
	number, ok := pageNumber(q)
	if q.Get("nif") == "" || !ok {
		return badRequest
	}
	if q.Has("division") && q.Get("division") != funds {
		return s.listing(r, nil, number)
	}
	return s.listing(r, s.archive.List(archive.Query{Series: disclosure.HR, NIF: q.Get("nif")}), number)
}
