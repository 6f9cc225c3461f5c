package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/auth"
	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/catalog"
	"pregon/internal/console"
	"pregon/internal/discovery"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/document/index"
	"pregon/internal/events"
	"pregon/internal/fault"
	"pregon/internal/mcp"
	"pregon/internal/query"
	"pregon/internal/rest"
	"pregon/internal/server/httpserver"
	"pregon/internal/server/private"
	"pregon/internal/server/telemetry"
	"pregon/internal/sim/demo"
	"pregon/internal/sim/pages"
	"pregon/internal/site"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/source/ingest"
	"pregon/internal/store"
	"pregon/internal/store/engine"
	"pregon/internal/store/highwater"
	"pregon/internal/store/monitor"
	"pregon/internal/webhook"
)

// maxInFlight is how many requests are processed at the same time, without those
// that wait for changes. Each has a header of 64 KiB at most, and a response.
const maxInFlight = 2048

type serveCmd struct{ serveConfig }

// Run serves until the context ends. Components start in the order in which data
// flows and stop in reverse order: requests are drained while the catalogue still
// follows the store, and the store is closed last.
func (c *serveCmd) Run(ctx context.Context, p *process) error {
	if err := c.validate(); err != nil {
		return err
	}
	stderr := p.stderr
	if c.LogFormat == "text" && p.colors(stderr) {
		stderr = telemetry.Colored(stderr)
	}
	log, err := telemetry.NewLog(stderr, c.LogFormat, c.LogLevel)
	if err != nil {
		return err
	}
	defer log.Flush()
	if err := sandbox.HideMemory(); err != nil {
		log.Logger.Warn("other processes of this user can read the service's memory and environment", "err", err)
	}
	address, err := c.address()
	if err != nil {
		return err
	}
	db, err := address.OpenWait(ctx, c.WaitStore, log.Logger)
	if err != nil {
		return untilStopped(err)
	}
	defer db.Close()
	listener, err := net.Listen("tcp", c.Listen) // after the store, so that no client connects before there is an answer
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot listen on %s", c.Listen)
	}
	defer listener.Close()
	base := c.baseURL(listener.Addr().String())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if db.Created() {
		log.Warn("a new, empty store was created: if one should exist, check --store and that its volume is mounted", "store", c.show())
	}
	s, err := c.wire(ctx, p, log, db, base)
	if err != nil {
		return err
	}
	defer s.close()
	s.stop = stop
	s.announce = func() { c.announce(p.stdout, log, base) }
	c.warnOfSecrets(p, log.Logger)
	log.Info("listening", "address", "http://"+listener.Addr().String(), "base_url", base,
		"store", c.show(), "source", c.Source, "version", version)
	if err := s.run(ctx, listener, c.DebugListen); err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}

// announce tells where the service is. It is a line for people, unless the output is
// for programs.
func (c *serveConfig) announce(stdout io.Writer, log *telemetry.Log, base string) {
	if c.LogFormat == "json" {
		log.Info("ready", "base_url", base)
		return
	}
	log.Flush() // so that this is the last line
	fmt.Fprintf(stdout, "Pregón is ready: %s/\n", base)
}

// service holds all components.
type service struct {
	log       *telemetry.Log
	store     *monitor.Store
	metrics   *telemetry.Metrics
	catalog   *catalog.Catalog
	coverage  *coverage.Tracker
	auth      *auth.Auth
	events    *events.Hub
	highwater *highwater.Keeper
	webhooks  *webhook.Manager
	stop      func() // ends the context of the service
	announce  func() // called once the service is ready
	conns     *events.ConnLimiter
	query     *query.Service
	mcp       *mcp.Server
	rest      *rest.API
	demo      *demo.Demo // nil unless the market is simulated
	reader    *reader    // nil without a source
	documents *documents // nil without a source
	server    *httpserver.Server
	started   atomic.Bool // the first data is loaded

	engine     engine.Store // under store
	storeBytes atomic.Int64 // size of the store, -1 when it is not known

	refused    atomic.Int64 // connections and requests over the limits of the server
	debugHosts []string     // host names accepted by the debug listener
	closers    []func() error
}

// close releases what wire opened.
func (s *service) close() {
	for _, end := range slices.Backward(s.closers) {
		_ = end()
	}
}

// wire creates the components: the store, the catalogue that follows it, the source
// that writes to it, access, and the surfaces.
func (c *serveConfig) wire(ctx context.Context, p *process, log *telemetry.Log, opened engine.Store, base string) (s *service, err error) {
	s = &service{log: log, metrics: telemetry.NewMetrics(version), conns: &events.ConnLimiter{}, debugHosts: c.DebugHosts, engine: opened}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	s.storeBytes.Store(-1)
	s.store = monitor.New(opened, monitor.Options{Logger: log.Logger, Observe: s.metrics.Store})
	db := &store.Sourced{Store: s.store}
	if c.Source == "demo" {
		db.Store = demo.WithLinks(s.store, base)
	}
	s.catalog, s.coverage = catalog.New(db, log.Logger), coverage.New(db)
	s.coverage.Epoch(s.catalog.Epoch)
	s.events = events.NewHub(s.catalog, db)
	if err := c.claim(ctx, db); err != nil {
		return s, err
	}
	if err := c.wireSource(ctx, p, s, db, base); err != nil {
		return s, err
	}
	if err := c.wireAccess(ctx, p, s, db, base); err != nil {
		return s, err
	}
	if s.highwater, err = c.newHighWater(s); err != nil {
		return s, err
	}
	if _, _, err := s.highwater.Check(ctx); err != nil { // before anything is served or written
		return s, err
	}
	return s, c.wireSurfaces(ctx, s, db, base)
}

// wireSource creates what reads the source, including documents.
func (c *serveConfig) wireSource(ctx context.Context, p *process, s *service, db store.Store, base string) (err error) {
	if c.Source == "none" {
		return nil
	}
	if c.Source == "demo" {
		if s.demo, err = c.startDemo(ctx, s.coverage, s.log.Logger); err != nil {
			return err
		}
	}
	model, err := c.model(p.getenv(llmKeyEnv), s.log.Logger)
	if err != nil {
		return err
	}
	if s.documents, err = c.newDocuments(db, model, c.LLMVerify, s.log.Logger); err != nil {
		return err
	}
	s.closers = append(s.closers, s.documents.close)
	if s.documents.Originals, err = c.originals(ctx, p, db); err != nil {
		return err
	}
	logger := s.log.Logger
	if c.Source == "demo" && c.LogLevel >= slog.LevelInfo {
		logger = telemetry.Warnings(logger) // the market publishes all the time; the address must stay in sight
	}
	s.reader, err = c.newReader(readerOptions{
		db: db, coverage: s.coverage, known: s.catalog.Known(), recent: s.catalog.Known(), documents: s.documents,
		poll: c.Poll, base: base, logger: logger, observe: s.metrics.Read,
	})
	return err
}

// wireAccess creates what decides on access, and the webhooks, whose owners it
// checks.
func (c *serveConfig) wireAccess(ctx context.Context, p *process, s *service, db store.Store, base string) error {
	box, err := secret.NewBox(p.getenv(secretKeyEnv))
	if err != nil {
		return err
	}
	audit, closeAudit, err := c.audit(s.log.Logger)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, closeAudit)
	if s.auth, err = c.newAuth(ctx, db, box, audit, base, s.log.Logger); err != nil {
		return err
	}
	s.closers = append(s.closers, s.auth.Close)
	s.webhooks = webhook.New(webhook.Options{
		Store: db, Sealer: box, Encoder: s.events, AllowPrivate: c.WebhookAllowPrivate, OwnerStatus: s.ownerStatus,
		OwnerTimeout: time.Duration(c.WebhookOwnerDays) * 24 * time.Hour,
		Logger:       s.log.Logger, Audit: audit, UserAgent: "pregon/" + version + " (+" + base + ")",
	})
	s.auth.OnToken = s.webhooks.Seen
	return s.webhooks.Refresh(ctx)
}

// wireSurfaces creates REST, MCP, the token endpoint, the discovery documents and
// the server under them.
func (c *serveConfig) wireSurfaces(ctx context.Context, s *service, db *store.Sourced, base string) error {
	log := s.log
	created, err := s.engine.CreatedAt(ctx)
	if err != nil {
		return err
	}
	s.query = query.New(query.Options{
		Catalog: s.catalog, Coverage: s.coverage, Documents: db, Version: version, ReadsSource: c.Source != "none", Source: db.KnownSource, Ready: s.ready,
		StoreStatus: s.storeStatus, StoreCreated: created, Limit: s.auth.Guard.AnonymousLimit(), Shared: s.auth.Shared,
	})
	closing := make(chan struct{}) // closed when streams must end
	s.rest, err = rest.New(rest.Options{
		Query: s.query, Guard: s.auth.Guard, Events: s.events, Conns: s.conns, Webhooks: s.webhooks, Logger: log.Logger,
		BaseURL: base, SignIn: c.SignIn == "on", Keys: s.auth.Keys, Accounts: s.auth.Accounts, Usage: s.auth.Usage, Stopping: closing,
	})
	if err != nil {
		return err
	}
	documents, err := discovery.New(discovery.Options{
		BaseURL: base, Version: version, Source: db.KnownSource, OpenAPI: s.rest.OpenAPIJSON(), MCP: mcp.Offered(), AnonymousLimit: c.AnonymousLimit,
		RegistryProof: c.MCPRegistryAuth,
	})
	if err != nil {
		return err
	}
	siteOptions := site.Options{
		Query: s.query, Guard: s.auth.Guard, Logger: log.Logger, BaseURL: base, OpenAPI: s.rest.OpenAPIJSON(), Programs: documents.Front(),
		Links: documents.FrontLinks(),
	}
	if s.auth.SignIn != nil {
		siteOptions.Parts = []site.Part{console.Part()}
	}
	people, err := site.New(siteOptions)
	if err != nil {
		return err
	}
	s.mcp = mcp.New(mcp.Options{
		Query: s.query, Guard: s.auth.Guard, Events: s.events, Conns: s.conns, Logger: log.Logger, BaseURL: base,
		Origins: c.MCPOrigins, Stopping: closing, Skills: documents.Skills, SignIn: s.auth.SignIn != nil,
	})
	mux := http.NewServeMux()
	s.rest.Register(mux)
	s.mcp.Register(mux)
	s.auth.Tokens.Register(mux)
	if s.auth.OAuth != nil {
		s.auth.OAuth.Register(mux)
	}
	documents.Register(mux)
	people.Register(mux)
	if s.auth.SignIn != nil {
		console.New(console.Options{Site: people, SignIn: s.auth.SignIn, OAuth: s.auth.OAuth, API: mux, BaseURL: base}).Register(mux)
	}
	if s.demo != nil {
		mux.Handle("GET "+pages.Prefix+"/", s.simulator())
	}
	s.observe()
	proxies := c.proxies()
	mcpErrors := httpserver.ErrorWriter{TooLarge: mcp.WriteTooLarge, Failed: mcp.WriteInternalError}
	s.server, err = httpserver.New(httpserver.Options{
		Drain: c.Drain, Closing: func() { close(closing) },
		Mux: mux, Logger: log.Logger, Source: db.KnownSource, HTTPS: strings.HasPrefix(base, "https://"),
		MaxConnections: c.MaxConnections, MaxPerAddress: c.MaxPerAddress, MaxRequests: maxInFlight, Refused: func() { s.refused.Add(1) },
		Proxy:     func(a netip.Addr) bool { return a.IsLoopback() || proxies.Contains(a) },
		ErrorPage: people.ErrorPage,
		Ready:     s.ready, Admit: s.auth.Guard.AdmitUnrouted, IsStream: func(r *http.Request) bool { return r.URL.Path == rest.StreamPath || mcp.IsListen(r) },
		ErrorWriters: map[string]httpserver.ErrorWriter{access.MCPPath: mcpErrors, access.MCPSignInPath: mcpErrors},
		Remote:       proxies.Client,
		Observe: func(o httpserver.Observation) {
			s.metrics.Request(o.Route, o.Method, o.Status, o.Duration)
			if o.Route != site.LiveRoute || o.Status != http.StatusNotModified { // an open page asks every second
				log.Request(telemetry.Request(o))
			}
		},
	})
	return err
}

// run runs the components until the context ends or one of them fails. What
// requests need runs until the last of them is answered; reading the source stops
// at once, so that another process can take the lease.
func (s *service) run(ctx context.Context, listener net.Listener, debugListen string) error {
	g, ctx := errgroup.WithContext(ctx)
	context.AfterFunc(ctx, s.stop) // also when a component fails
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	go s.log.Run(background)
	g.Go(func() error {
		defer stopBackground()
		return s.server.Run(ctx, listener)
	})
	loaded := make(chan struct{})
	whenLoaded := func(ctx context.Context, run func(context.Context) error) {
		g.Go(func() error {
			select {
			case <-loaded:
				return untilStopped(run(ctx))
			case <-ctx.Done():
				return nil
			}
		})
	}
	always := func(run func(context.Context) error) {
		g.Go(func() error { return untilStopped(run(background)) })
	}
	always(func(ctx context.Context) error { return follow(ctx, s.catalog, loaded) })
	always(s.coverage.Follow)
	always(s.auth.Run)
	always(s.mcp.Run)
	always(func(ctx context.Context) error { s.events.Watch(ctx, s.query.State); return nil })
	whenLoaded(background, func(ctx context.Context) error { s.highwater.Run(ctx, s.events.Seen); return nil })
	whenLoaded(ctx, s.webhooks.Run)    // filters may name what only the directory knows
	whenLoaded(ctx, s.store.RunChecks) // which would slow down loading
	whenLoaded(ctx, (&index.Keeper{Store: s.store, Holder: processName(), Logger: s.log.Logger}).Run)
	g.Go(func() error { s.measureStore(ctx); return nil })
	whenLoaded(ctx, func(ctx context.Context) error { s.whenReady(ctx, s.announce); return nil })
	if s.demo != nil {
		always(s.demo.Run)
	}
	if s.reader != nil {
		whenLoaded(ctx, s.reader.Run)
	}
	if debugListen != "" {
		g.Go(func() error {
			return serveDebug(background, debugListen, s.debugHosts, s.metrics.Handler(), s.log.Logger)
		})
	}
	return g.Wait()
}

// follow loads the catalogue and then follows the store. Most of the heap is the
// catalogue, which is long-lived: with the default GOGC the heap would grow to
// twice its size before each collection.
func follow(ctx context.Context, cat *catalog.Catalog, loaded chan<- struct{}) error {
	if err := cat.Load(ctx); err != nil {
		return err
	}
	close(loaded)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(30)
	}
	debug.FreeOSMemory() // garbage of loading
	return cat.Follow(ctx)
}

// untilStopped drops context.Canceled, the error of a requested stop.
func untilStopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// ready returns why the service cannot answer yet, or nil. A simulated market is
// ready once its first month is loaded. A new store is ready once it has a report,
// or the regulator's lists were read and have none. Any other store is ready at
// once; the status says how fresh it is.
func (s *service) ready() error {
	if s.started.Load() {
		return nil
	}
	snapshot := s.catalog.Snapshot()
	switch {
	case snapshot == nil:
		return fault.New(fault.Unavailable, "The catalogue is still loading. Try again in a few seconds.")
	case s.demo != nil && !ingest.Started(s.coverage):
		return fault.New(fault.Unavailable, "The first month of the simulated market is still loading. Try again in a few seconds.")
	case s.reader != nil && snapshot.Len() == 0 && !ingest.ListsRead(s.coverage):
		return fault.New(fault.Unavailable, "The store is new, and nothing was read from the regulator yet. Try again in a few seconds; /api/v1/status has the state of the source.")
	}
	s.started.Store(true)
	return nil
}

// whenReady calls fn once the service is ready.
func (s *service) whenReady(ctx context.Context, fn func()) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for s.ready() != nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	fn()
}

// storeBlind is how long writes may fail before the status is blind.
const storeBlind = 15 * time.Second

// storeStatus implements query.Options.StoreStatus.
func (s *service) storeStatus() (reasons []health.Reason, blind bool) {
	for _, f := range s.store.Failures() {
		reasons = append(reasons, health.Reason{Surface: health.Store, Text: f.Part + ": " + f.Reason, Since: f.Since})
		blind = blind || f.Writes && time.Since(f.Since) > storeBlind
	}
	return reasons, blind
}

// serveDebug serves metrics and profiles on their own address.
func serveDebug(ctx context.Context, address string, hosts []string, h http.Handler, logger *slog.Logger) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot listen on %s", address)
	}
	logger.Info("listening for debug", "address", "http://"+l.Addr().String())
	return private.Serve(ctx, l, private.Guard{Names: hosts}.Handler(h))
}
