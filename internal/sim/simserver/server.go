// Package simserver serves the simulated market like the web site of the regulator
// and the JSON API of the exchange: with the same paths, the same markup and the
// same irregularities, so that clients of the real ones can be run and tested
// without a network.
//
// Faults can be armed that make responses fail in the ways observed at the real
// site.
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
	"pregon/internal/retry"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/market"
	"pregon/internal/sim/shorts"
	"pregon/internal/sim/stake"
)

// Options are the settings of a Server.
type Options struct {
	Market *market.Market
	Seed   uint64           // of the market
	File   string           // stores the reports published, as JSON Lines; "" keeps them in memory only
	Rate   float64          // new reports a minute
	Shorts ShortsOptions    // the register of net short positions
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: none
}

// Server is the simulated site. It is safe for concurrent use.
type Server struct {
	market *market.Market
	seed   uint64
	rate   float64
	now    func() time.Time
	log    *slog.Logger

	archive  *archive.Archive
	shorts   *shorts.Register
	stakes   *stake.Register
	sessions *sessions
	faults   faults
	routes   map[string]route
	done     chan struct{} // closed by Close, which ends pending responses
	close    func() error  // runs once
}

// Open returns a server that continues with the reports of its file.
func Open(o Options) (*Server, error) {
	s := &Server{
		market: o.Market,
		seed:   o.Seed,
		rate:   o.Rate,
		now:    o.Now,
		log:    o.Logger,
		done:   make(chan struct{}),
	}
	if s.market == nil {
		return nil, fault.New(fault.Invalid, "there is no market to serve")
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	all, err := archive.Open(o.Market, o.Seed, o.File, s.now)
	if err != nil {
		return nil, err
	}
	s.archive = all
	s.shorts = o.Shorts.register(o, all.Began())
	s.sessions = newSessions(o.Seed)
	s.stakes = stake.New(stake.Options{
		Market: o.Market,
		Seed:   o.Seed,
		Began:  all.Began(),
		Live:   o.Rate > 0,
	})
	s.faults = faults{rng: rand.New(rand.NewPCG(o.Seed, 'f')), now: s.now}
	s.routes = s.table()
	s.close = sync.OnceValue(func() error {
		close(s.done)
		return s.archive.Close()
	})
	return s, nil
}

// Began returns the time at which the history of the market ends.
func (s *Server) Began() time.Time { return s.archive.Began() }

// Archive returns the reports that the site shows.
func (s *Server) Archive() *archive.Archive { return s.archive }

// Stakes returns the registers of dealings, holdings and own shares.
func (s *Server) Stakes() *stake.Register { return s.stakes }

// Publish publishes a report and returns it as a perfect reader would store it.
func (s *Server) Publish(d archive.Draft) (disclosure.Report, error) {
	r, err := s.archive.Publish(d)
	if err != nil {
		return disclosure.Report{}, err
	}
	s.log.Debug("published", "report", r.ID, "title", r.Title)
	return r.Read(), nil
}

// Close ends the responses that a fault delays, and closes the file.
func (s *Server) Close() error { return s.close() }

// route answers one path. A fault selects routes by surface and series.
type route struct {
	surface surface
	series  disclosure.Type
	answer  func(*request) answer
}

// documentPath is the path of documents, among the pages of their surface.
const documentPath = "/webservices/verdocumento/ver"

// table returns the routes by path, in lower case and without .aspx.
func (s *Server) table() map[string]route {
	ip := disclosure.IP
	oir := disclosure.OIR
	hr := disclosure.HR
	t := map[string]route{
		"/portal/informacion-privilegiada/rss.asmx/getnoticiascnmv":   {onFeed, ip, s.feed},
		"/portal/otra-informacion-relevante/rss.asmx/getnoticiascnmv": {onFeed, oir, s.feed},
		"/portal/hr/hechosrelevantes.asmx/getnoticiascnmv":            {onFeed, hr, s.feed},
		"/portal/informacion-privilegiada/resultado-ip":               {onList, ip, s.results},
		"/portal/otra-informacion-relevante/resultado-oir":            {onList, oir, s.results},
		"/portal/menu/utimos-hechos-relevantes-iic":                   {onHR, hr, s.latestFunds},
		"/portal/menu/utimos-hechos-relevantes-capital-riesgo":        {onHR, hr, s.latestEquity},
		"/portal/hr/resultadobusquedahr":                              {onHR, hr, s.relevantFacts},

		documentPath:                       {onDocument, "", s.document},
		"/portal/consultas/ifa/listadoifa": {onDocument, oir, s.about("Informes financieros anuales")},
		"/portal/aldia/detalleifialdia":    {onDocument, oir, s.halfYearReport},
		"/portal/otra-informacion-regulada-corporativa/derechos-voto-capital": {
			onDocument, oir,
			s.about("Derechos de voto"),
		},
		"/portal/otra-informacion-regulada-corporativa/resultado-oirc": {
			onDocument, oir,
			s.about("Otra información regulada"),
		},

		"/portal/consultas/listadoentidad":                      {onRegister, "", s.managers},
		"/portal/consultas/mostrarlistados":                     {onRegister, "", s.funds},
		"/portal/consultas/datosentidad":                        {onRegister, "", s.about("Datos de la entidad")},
		"/portal/publicaciones/descarga-informacion-individual": {onRegister, "", s.downloads},

		"/docportal/posiciones-cortas/netshortpositions.xls": {onShorts, "", s.netShortPositions},

		"/portal/error": {onNothing, "", errorPage},
	}
	for name, answer := range map[string]func(*request) answer{
		"listedcompanies": s.listedCompanies, "sharedetailsinfo": s.shareDetails, "companydata/alldata": s.companyData,
	} {
		t["/market/v1/eq/"+name] = route{onExchange, "", answer}
	}
	for path, answer := range s.positionRoutes() {
		t[path] = route{onPositions, "", answer}
	}
	return t
}

// request is a request, and the changes that faults make to its answer.
type request struct {
	*http.Request
	series  disclosure.Type
	now     time.Time
	skew    time.Duration // is added to every time shown
	cut     time.Time     // the feed drops older reports
	below   int64         // the feed drops reports from this number; 0 drops none
	runaway bool          // lists do not end
	back    time.Duration // files are as old as this
}

// answer is a complete response, so that a fault can change it as a whole.
type answer struct {
	status     int
	kind       string // Content-Type
	location   string
	body       []byte
	isDocument bool // of a report
	etag       string
	modified   time.Time
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
		if len(r.Header.Values("Accept")) == 0 { // as the real site does
			http.Error(w, "Runtime Error", http.StatusInternalServerError)
			return
		}
	}
	req := &request{Request: r, series: at.series, now: s.now()}
	if !known {
		write(w, r, notFound(r))
		return
	}
	if (at.surface == onList || at.surface == onHR) && r.URL.Query().Has("nreg") {
		at.surface = onPermalink
	}
	effect := s.faults.apply(at, req)
	if effect.wait > 0 {
		s.stall(r, effect.wait)
		req.now = s.now()
	}
	if effect.instead != nil {
		effect.instead(s, w, r)
		return
	}
	a := at.answer(req)
	if effect.write != nil {
		effect.write(s, w, r, a)
		return
	}
	write(w, r, a)
}

// notFound answers an unknown path.
func notFound(r *http.Request) answer {
	path := r.URL.EscapedPath()
	if strings.HasSuffix(strings.ToLower(path), ".aspx") {
		to := "/" + strings.TrimLeft(path[:len(path)-len(".aspx")], "/") // never another host
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		return answer{status: http.StatusMovedPermanently, location: to}
	}
	return forbidden
}

// The redirects of the site for unknown pages and for bad requests.
var (
	forbidden  = answer{status: http.StatusFound, location: "/portal/error?errorcode=CVFE"}
	badRequest = answer{status: http.StatusFound, location: "/portal/error?errorcode=HE"}
)

// write sends an answer.
func write(w http.ResponseWriter, r *http.Request, a answer) {
	if a.status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	writeHead(w, a)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body)
	}
}

func writeHead(w http.ResponseWriter, a answer) {
	if a.kind != "" {
		w.Header().Set("Content-Type", a.kind)
	}
	if a.location != "" {
		w.Header().Set("Location", a.location)
	}
	if a.etag != "" {
		w.Header().Set("ETag", a.etag)
		w.Header().Set("Last-Modified", a.modified.UTC().Format(http.TimeFormat))
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
}

// Run publishes reports at the rate of the options until ctx ends. The intervals are
// those of a Poisson process, with occasional bursts of one issuer.
func (s *Server) Run(ctx context.Context) error {
	if s.rate <= 0 {
		<-ctx.Done()
		return nil
	}
	rng := rand.New(rand.NewPCG(s.seed, uint64(s.now().UnixNano())))
	left, nif := 0, ""
	for {
		wait := time.Duration(rng.ExpFloat64() * meanBurst / s.rate * float64(time.Minute))
		if left > 0 {
			wait = time.Duration(1+rng.IntN(3)) * time.Second
		}
		if retry.Sleep(ctx, wait) != nil {
			return nil
		}
		r, err := s.Publish(archive.Draft{NIF: nif})
		if err != nil {
			return err
		}
		if left--; left <= 0 {
			left, nif = 0, ""
			if rng.IntN(100) < burstShare {
				left, nif = 1+rng.IntN(3), r.IssuerKey()
			}
		}
	}
}

// burstShare is the number of reports in a hundred that are followed by one to three
// of the same issuer. meanBurst is the mean number of reports of a burst.
const (
	burstShare = 12
	meanBurst  = 1 + 2*burstShare/100.0
)
