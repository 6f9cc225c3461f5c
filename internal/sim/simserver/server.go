// Package simserver serves the simulated market as the regulator's web site
// and the exchange's JSON would: the same paths, the same markup and the same
// traps, so that whatever reads the real ones can be run and tested with no
// network.
//
// The past is the deterministic history of the market, up to the instant at
// which the server was first opened. What came after is what it published, and
// is kept in a file, one JSON line each, written before it is served: a restart
// goes on with the same market. Faults can be armed that spoil the answers the
// way the real site has been seen to spoil them.
package simserver

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/sim/market"
)

// Options say which market is served and where it is kept.
type Options struct {
	Market *market.Market
	Seed   uint64           // that the market was made with
	File   string           // where what it published is kept as JSON Lines; "" keeps it in memory only
	Rate   float64          // new reports a minute; 0: none
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: none
}

// Server is the simulated site. It may be used by several goroutines.
type Server struct {
	market *market.Market
	seed   uint64
	rate   float64
	now    func() time.Time
	log    *slog.Logger

	people  *directory
	archive *archive
	faults  faults
	routes  map[string]route
	done    chan struct{} // closed by Close, so that no answer hangs on
	close   func() error  // once

	mu    sync.RWMutex // guards file and live
	file  *file
	live  live
	feeds [3]struct {
		sync.Mutex
		key  string
		body []byte
	}
}

// Open reads what was published before, if there is a file, and takes the file
// for itself: no two processes may publish into one market.
func Open(o Options) (*Server, error) {
	s := &Server{market: o.Market, seed: o.Seed, rate: o.Rate, now: o.Now, log: o.Logger, done: make(chan struct{})}
	if s.market == nil {
		return nil, fault.New(fault.Invalid, "there is no market to serve")
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	f, published, err := openFile(o.File, header{Seed: o.Seed, Began: s.now().UTC().Truncate(time.Second)})
	if err != nil {
		return nil, err
	}
	s.file = f
	s.people = newDirectory(s.market)
	s.archive = newArchive(s.market, s.people, o.Seed, f.Began)
	s.live = newLive(s.archive.numbers())
	for n := range published {
		published[n].who = s.people.of(&published[n].Report)
		s.live.add(&published[n])
	}
	s.faults = faults{dice: rand.New(rand.NewPCG(o.Seed, 'f')), now: s.now}
	s.routes = s.table()
	s.close = sync.OnceValue(func() error {
		close(s.done)
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.file.close()
	})
	return s, nil
}

// Began returns the instant up to which the market's own history counts.
func (s *Server) Began() time.Time { return s.file.Began }

// Close ends the answers that hang by design and lets go of the file.
func (s *Server) Close() error { return s.close() }

// route is what answers at one path. Its surface and type are what a fault may
// be aimed at; a control route is nobody's and never fails.
type route struct {
	surface surface
	series  disclosure.Type
	answer  func(*request) answer
}

// documentPath is where documents are, among the pages of their surface.
const documentPath = "/webservices/verdocumento/ver"

// table lists every path, in lower case and without .aspx.
func (s *Server) table() map[string]route {
	ip, oir, hr := disclosure.IP, disclosure.OIR, disclosure.HR
	t := map[string]route{
		"/portal/informacion-privilegiada/rss.asmx/getnoticiascnmv":   {onFeed, ip, s.feed},
		"/portal/otra-informacion-relevante/rss.asmx/getnoticiascnmv": {onFeed, oir, s.feed},
		"/portal/hr/hechosrelevantes.asmx/getnoticiascnmv":            {onFeed, hr, s.feed},
		"/portal/informacion-privilegiada/resultado-ip":               {onList, ip, s.results},
		"/portal/otra-informacion-relevante/resultado-oir":            {onList, oir, s.results},
		"/portal/informacion-privilegiada/aldia-ip":                   {onList, ip, s.today},
		"/portal/otra-informacion-relevante/aldia-oir":                {onList, oir, s.today},
		"/portal/home": {onList, "", s.home},
		"/portal/menu/utimos-hechos-relevantes-iic":            {onHR, hr, s.latestFunds},
		"/portal/menu/utimos-hechos-relevantes-capital-riesgo": {onHR, hr, s.latestEquity},
		"/portal/hr/resultadobusquedahr":                       {onHR, hr, s.relevantFacts},
		"/portal/hr/hraldia":                                   {onHR, hr, s.today},

		documentPath:                       {onDocument, "", s.document},
		"/portal/consultas/ifa/listadoifa": {onDocument, oir, s.annualReports},
		"/portal/aldia/detalleifialdia":    {onDocument, oir, s.halfYearReport},
		"/portal/otra-informacion-regulada-corporativa/derechos-voto-capital": {onDocument, oir, s.votingRights},
		"/portal/otra-informacion-regulada-corporativa/resultado-oirc":        {onDocument, oir, s.votingRights},

		"/portal/consultas/listadoentidad":                      {onRegister, "", s.managers},
		"/portal/consultas/mostrarlistados":                     {onRegister, "", s.funds},
		"/portal/consultas/datosentidad":                        {onRegister, "", s.entity},
		"/portal/publicaciones/descarga-informacion-individual": {onRegister, "", s.downloads},

		"/portal/error": {onNothing, "", errorPage},
	}
	for name, answer := range map[string]func(*request) answer{
		"listedcompanies": s.listedCompanies, "sharedetailsinfo": s.shareDetails, "companydata/alldata": s.companyData,
		"companysearch": s.companySearch, "relevantfacts": s.exchangeFacts,
	} {
		t["/market/v1/eq/"+name] = route{onExchange, "", answer}
	}
	return t
}

// request is a request with what a fault changes about its answer.
type request struct {
	*http.Request
	series  disclosure.Type
	now     time.Time
	skew    time.Duration // added to every time shown
	cut     time.Time     // the feed drops what is older
	below   int64         // the feed shows only numbers below it; 0 for all
	runaway bool          // lists do not end
}

// answer is a whole answer. Nothing the site says is so large that it must be
// streamed, and a fault can spoil it only as a whole.
type answer struct {
	status   int
	kind     string // Content-Type
	location string
	body     []byte
	filed    bool // it is the document of a report
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Pregon-Source", "demo")
	path := strings.ToLower(r.URL.Path)
	if rest, ok := strings.CutPrefix(path, "/_sim/"); ok {
		s.control(w, r, rest)
		return
	}
	at, known := s.routes[path]
	if at.surface != onExchange {
		w.Header().Set("Cache-Control", "private")
		if len(r.Header.Values("Accept")) == 0 { // the real one cannot do without it
			http.Error(w, "Runtime Error", http.StatusInternalServerError)
			return
		}
	}
	req := &request{Request: r, series: at.series, now: s.now()}
	if !known {
		write(w, r, astray(r))
		return
	}
	if (at.surface == onList || at.surface == onHR) && r.URL.Query().Has("nreg") {
		at.surface = onPermalink
	}
	spoil := s.faults.strike(at, req)
	if spoil.wait > 0 {
		s.stall(r, spoil.wait)
		req.now = s.now()
	}
	if spoil.before != nil {
		spoil.before(s, w, r)
		return
	}
	a := at.answer(req)
	if spoil.after != nil {
		spoil.after(s, w, r, a)
		return
	}
	write(w, r, a)
}

// astray answers a path that nobody serves.
func astray(r *http.Request) answer {
	path := r.URL.EscapedPath()
	if strings.HasSuffix(strings.ToLower(path), ".aspx") {
		to := "/" + strings.TrimLeft(path[:len(path)-len(".aspx")], "/") // never another host's
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		return answer{status: http.StatusMovedPermanently, location: to}
	}
	return lost
}

// The two ways in which the site says that it will not answer.
var (
	lost   = answer{status: http.StatusFound, location: "/portal/error?errorcode=CVFE"}
	refuse = answer{status: http.StatusFound, location: "/portal/error?errorcode=HE"}
)

func write(w http.ResponseWriter, r *http.Request, a answer) {
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	head(w, a)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body)
	}
}

func head(w http.ResponseWriter, a answer) {
	if a.kind != "" {
		w.Header().Set("Content-Type", a.kind)
	}
	if a.location != "" {
		w.Header().Set("Location", a.location)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
}

// Run publishes at the rate it was opened with, until ctx ends: by Poisson's
// law, with a few reports of one issuer in a row now and then.
func (s *Server) Run(ctx context.Context) error {
	if s.rate <= 0 {
		<-ctx.Done()
		return nil
	}
	dice := rand.New(rand.NewPCG(s.seed, uint64(s.now().UnixNano())))
	timer := time.NewTimer(0)
	defer timer.Stop()
	left, who := 0, ""
	for {
		wait := time.Duration(dice.ExpFloat64() * meanBurst / s.rate * float64(time.Minute))
		if left > 0 {
			wait = time.Duration(1+dice.IntN(3)) * time.Second
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		r, err := s.Publish(Report{NIF: who})
		if err != nil {
			return err
		}
		if left--; left <= 0 {
			left, who = 0, ""
			if dice.IntN(100) < burstShare {
				left, who = 1+dice.IntN(3), r.IssuerKey()
			}
		}
	}
}

// Of a hundred reports, so many are followed by one to three of the same
// issuer; a report so brings meanBurst reports on average.
const (
	burstShare = 12
	meanBurst  = 1 + 2*burstShare/100.0
)
