package simserver

import (
	"math/rand/v2"
	"sync"
	"time"

	"pregon/internal/sim/filler"
	"pregon/internal/sim/stake"
)

// The pages that need a session, as their links spell them.
const (
	presentPage    = "Notificaciones-Participaciones"
	historyPage    = "NotificacionesAnteriores"
	othersPage     = "PersonasOtrasNotificaciones"
	annulledPage   = "NotificacionesAnuladas"
	ownPage        = "Autocartera"
	ownHistoryPage = "NotificacionesAnterioresAC"
	interestsPage  = "SociedadesParticipa"
)

// visit is what the token of a session leads to.
type visit struct {
	page   string
	issuer string // id
	party  string // name of a shareholder, or ""
}

// sessions are the tokens of the links that were served. Each visit of a page gets new
// ones, and they end after a while.
type sessions struct {
	mu    sync.Mutex // guards the fields below
	rng   filler.Random
	to    map[string]begun
	order []string // of begin, oldest first
}

type begun struct {
	visit
	at time.Time
}

const (
	sessionEnds  = 20 * time.Minute
	mostSessions = 20_000
)

func newSessions(seed uint64) *sessions {
	return &sessions{
		rng: filler.Random{Rand: rand.New(rand.NewPCG(seed, 's'))},
		to:  map[string]begun{},
	}
}

// begin returns a new token, in braces as links have it.
func (s *sessions) begin(now time.Time, v visit) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := "{" + s.rng.GUID() + "}"
	s.to[token] = begun{v, now}
	s.order = append(s.order, token)
	for len(s.order) > mostSessions || now.Sub(s.to[s.order[0]].at) > sessionEnds {
		delete(s.to, s.order[0])
		s.order = s.order[1:]
	}
	return token
}

// link returns the link to a page with a new token.
func (s *sessions) link(now time.Time, v visit) string { return v.page + ".aspx?qS=" + s.begin(now, v) }

// find returns where a token leads to.
func (s *sessions) find(now time.Time, token string) (visit, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.to[token]
	return v.visit, ok && now.Sub(v.at) <= sessionEnds
}

// visited returns the answer of a page that needs a token which leads to it.
func (s *Server) visited(page string, show func(*request, visit, stake.Table) answer) func(*request) answer {
	return func(r *request) answer {
		v, ok := s.sessions.find(r.now, param(r.URL.Query(), "qS"))
		t, known := s.stakes.Table(r.now, v.issuer)
		if !ok || !known || v.page != page {
			return plain("Error", `<div class="error"><p>No ha sido posible completar su consulta.</p></div>`)
		}
		return show(r, v, t)
	}
}
