package simserver

import (
	"strings"

	"pregon/internal/disclosure"
)

// latest is how many rows the lists of relevant facts have.
const latest = 30

// The managers of private equity have a list of their own.
func equity(f *filing) bool { return f.who != nil && strings.Contains(f.who.Name, "S.G.E.I.C.") }

func (s *Server) latestFunds(r *request) answer {
	return latestFacts(r, "Últimos hechos relevantes de IIC",
		s.newest(disclosure.HR, latest, 0, func(f *filing) bool { return !equity(f) }))
}

// latestEquity has few rows, or none: it reaches back two months only.
func (s *Server) latestEquity(r *request) answer {
	return latestFacts(r, "Últimos hechos relevantes de capital riesgo",
		s.newest(disclosure.HR, latest, disclosure.DayOf(r.now)-60, equity))
}

func latestFacts(r *request, title string, rows []*filing) answer {
	return page{title: title, newest: newestOf(rows, r), content: appendRows(nil, rows, r)}.answer()
}

// relevantFacts answers the list of one entity; there is none of everybody.
func (s *Server) relevantFacts(r *request) answer {
	q := r.URL.Query()
	number, ok := pageNumber(q)
	if q.Get("nif") == "" || !ok {
		return refuse
	}
	return s.listing(r, s.list(query{series: disclosure.HR, nif: q.Get("nif")}), number)
}
