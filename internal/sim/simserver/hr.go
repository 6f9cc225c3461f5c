package simserver

import (
	"strings"

	"pregon/internal/disclosure"
)

// latest is how many rows the lists of relevant facts have.
const latest = 30

// funds is the division of what is filed still.
const funds = "2"

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

// relevantFacts answers the page of one, or the list of one entity; there is
// none of everybody. All of the market are of funds, none of issuers before 2020.
func (s *Server) relevantFacts(r *request) answer {
	q := r.URL.Query()
	if q.Has("nreg") {
		if q.Get("th") != "H" {
			return refuse
		}
		if q.Get("division") != funds {
			return s.permalink(r, "")
		}
		return s.permalink(r, q.Get("nreg"))
	}
	number, ok := pageNumber(q)
	if q.Get("nif") == "" || !ok {
		return refuse
	}
	if q.Has("division") && q.Get("division") != funds {
		return s.listing(r, list{}, number)
	}
	return s.listing(r, s.list(query{series: disclosure.HR, nif: q.Get("nif")}), number)
}
