package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/discovery"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/events"
	"pregon/internal/fault"
	"pregon/internal/mcp"
	"pregon/internal/query"
	"pregon/internal/rest"
	"pregon/internal/server/httpserver"
	"pregon/internal/server/private"
	"pregon/internal/server/telemetry"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/source/ingest"
	"pregon/internal/store"
	"pregon/internal/store/engine"
	"pregon/internal/store/highwater"
	"pregon/internal/store/monitor"
	"pregon/internal/webhook"
)

// mostInWork is how many requests are worked on at once, but for those that
// wait or listen. Each has a head of 64 KiB at most, and an answer.
const mostInWork = 2048

type serveCmd struct{ serveConfig }

// Run serves until the context ends. Things start in the order in which data
// flows and stop in the reverse: requests are drained while the catalogue still
// stands, and the store is closed last.
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
	listener, err := net.Listen("tcp", c.Listen) // after the store: nobody connects to what does not answer yet
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot listen on %s", c.Listen)
	}
	defer listener.Close()
	base := c.baseURL(listener.Addr().String())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if db.Created() {
		log.Warn("a new, empty store was made: if one should have been there, check --store and that its volume is mounted", "store", c.show())
	}
	s, err := c.wire(ctx, p, log, db, base)
	if err != nil {
		return err
	}
	defer s.auth.close()
	if s.documents != nil {
		defer s.documents.close()
	}
	s.stop = stop
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

// service is everything that runs.
type service struct {
	log       *telemetry.Log
	store     *monitor.Store
	metrics   *telemetry.Metrics
	catalog   *catalog.Catalog
	ledger    *coverage.Tracker
	auth      *auth
	events    *events.Hub
	keeper    *highwater.Keeper
	webhooks  *webhook.Manager
	stop      func() // ends what waits for the service to stop
	conns     *events.ConnLimiter
	query     *query.Service
	mcp       *mcp.Server
	api       *rest.API
	demo      *demo      // nil unless the market is simulated
	reader    *reader    // nil without a source
	documents *documents // nil without a source
	server    *httpserver.Server
	started   atomic.Bool // the first data is there

	engine     engine.Store // under store
	storeBytes atomic.Int64 // size of the store, -1 when it is not known

	refused    atomic.Int64 // connections and requests over the bounds of the server
	debugHosts []string     // names by which the debug listener may be called
}

// wire puts the parts together, in the order in which data flows.
func (c *serveConfig) wire(ctx context.Context, p *process, log *telemetry.Log, opened engine.Store, base string) (s *service, err error) {
	s = &service{log: log, metrics: telemetry.NewMetrics(version), conns: &events.ConnLimiter{}, debugHosts: c.DebugHosts, engine: opened}
	s.storeBytes.Store(-1)
	s.store = monitor.New(opened, monitor.Options{Logger: log.Logger, Observe: s.metrics.Store})
	db := &sourceStore{Store: s.store}
	created, err := opened.CreatedAt(ctx)
	if err != nil {
		return nil, err
	}
	s.catalog, s.ledger = catalog.New(db, log.Logger), coverage.New(db)
	s.ledger.Epoch(s.catalog.Epoch)
	s.events = events.NewHub(s.catalog, db)
	if err := c.claim(ctx, db); err != nil {
		return nil, err
	}
	if c.Source == "demo" {
		if s.demo, err = c.startDemo(ctx, s.ledger, log.Logger); err != nil {
			return nil, err
		}
	}
	if c.Source != "none" {
		if err := c.newSource(p, s, db, base); err != nil {
			return nil, err
		}
	}
	if s.auth, err = c.newAuth(ctx, p, db, base, log.Logger); err != nil {
		return nil, err
	}
	s.webhooks = webhook.New(webhook.Options{
		Store: db, Sealer: s.auth.box, Encoder: s.events, AllowPrivate: c.WebhookAllowPrivate, OwnerStatus: s.auth.standing, OwnerTimeout: time.Duration(c.WebhookOwnerDays) * 24 * time.Hour,
		Logger: log.Logger, Audit: s.auth.audit, UserAgent: "pregon/" + version + " (+" + base + ")",
	})
	s.auth.seen = s.webhooks.Seen
	if err := s.webhooks.Refresh(ctx); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	s.query = query.New(query.Options{
		Catalog: s.catalog, Coverage: s.ledger, Documents: db, Version: version, ReadsSource: c.Source != "none", Source: db.mark, Ready: s.ready,
		StoreStatus: s.storeFails, StoreCreated: created, Limit: s.auth.guard.AnonymousLimit(), Shared: s.auth.shared,
	})
	closing := make(chan struct{}) // closed when streams are to end
	s.api, err = rest.New(rest.Options{
		Query: s.query, Guard: s.auth.guard, Events: s.events, Conns: s.conns, Webhooks: s.webhooks, Logger: log.Logger, BaseURL: base, Stopping: closing,
	})
	if err != nil {
		return nil, err
	}
	s.mcp = mcp.New(mcp.Options{
		Query: s.query, Guard: s.auth.guard, Events: s.events, Conns: s.conns, Logger: log.Logger, BaseURL: base, Origins: c.MCPOrigins, Stopping: closing,
	})
	s.api.Register(mux)
	s.mcp.Register(mux)
	s.auth.tokens.Register(mux)
	found, err := discovery.New(discovery.Options{
		BaseURL: base, Version: version, Source: db.mark, OpenAPI: s.api.OpenAPIJSON(), MCP: mcp.Offered(), AnonymousLimit: c.AnonymousLimit,
	})
	if err != nil {
		return nil, err
	}
	found.Register(mux)
	if s.keeper, err = c.newKeeper(s); err != nil {
		return nil, err
	}
	if _, _, err := s.keeper.Check(ctx); err != nil { // before anything is served or written
		return nil, err
	}
	s.observe()
	s.server, err = httpserver.New(httpserver.Options{
		Drain: c.Drain, Closing: func() { close(closing) },
		Mux: mux, Logger: log.Logger, Source: db.mark, HTTPS: strings.HasPrefix(base, "https://"),
		MaxConnections: c.MaxConnections, MaxPerAddress: c.MaxPerAddress, MaxRequests: mostInWork, Refused: func() { s.refused.Add(1) },
		Proxy: func(a netip.Addr) bool { return a.IsLoopback() || s.auth.proxies.Contains(a) },
		Ready: s.ready, Admit: s.auth.guard.AdmitUnrouted, Streams: []string{rest.StreamPath, access.MCPPath},
		ErrorWriters: map[string]httpserver.ErrorWriter{access.MCPPath: {TooLarge: mcp.WriteTooLarge, Failed: mcp.WriteInternalError}},
		Remote:       s.auth.proxies.Client,
		Observe: func(o httpserver.Observation) {
			s.metrics.Request(o.Route, o.Method, o.Status, o.Duration)
			log.Request(telemetry.Request(o))
		},
	})
	return s, err
}

// newSource puts together what reads the source, documents and all.
func (c *serveConfig) newSource(p *process, s *service, db store.Store, base string) error {
	model, err := c.model(p.getenv(llmKeyEnv), s.log.Logger)
	if err != nil {
		return err
	}
	if s.documents, err = c.newDocuments(db, model, s.log.Logger); err != nil {
		return err
	}
	s.reader, err = c.newReader(db, s.ledger, s.catalog, s.documents, c.Poll, base, s.log.Logger, s.metrics.Read)
	return err
}

// run runs the parts until the context ends or one of them fails. What requests
// need goes on until the last of them is answered; the source is left at once,
// so that another process can take it up.
func (s *service) run(ctx context.Context, listener net.Listener, debugListen string) error {
	g, ctx := errgroup.WithContext(ctx)
	context.AfterFunc(ctx, s.stop) // also when a part of it fails
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	go s.log.Run(background)
	g.Go(func() error {
		defer stopBackground()
		return s.server.Run(ctx, listener)
	})
	loaded := make(chan struct{})
	g.Go(func() error {
		select {
		case <-loaded: // what a filter asks for may be known to the directory alone
			return untilStopped(s.webhooks.Run(ctx))
		case <-ctx.Done():
			return nil
		}
	})
	g.Go(func() error { return untilStopped(follow(background, s.catalog, loaded)) })
	g.Go(func() error {
		select {
		case <-loaded: // which a check would slow down
			return untilStopped(s.store.RunChecks(ctx))
		case <-ctx.Done():
			return nil
		}
	})
	g.Go(func() error { s.measureStore(ctx); return nil })
	g.Go(func() error {
		select {
		case <-loaded:
			s.keeper.Run(background, s.events.Seen)
		case <-background.Done():
		}
		return nil
	})
	g.Go(func() error { return untilStopped(s.ledger.Follow(background)) })
	g.Go(func() error { return untilStopped(s.auth.follow(background)) })
	g.Go(func() error { return untilStopped(s.mcp.Run(background)) })
	g.Go(func() error { s.events.Watch(background, s.query.State); return nil })
	if s.demo != nil {
		g.Go(func() error { return s.demo.run(background) })
	}
	if s.reader != nil {
		g.Go(func() error {
			select {
			case <-loaded:
				return untilStopped(s.reader.Run(ctx))
			case <-ctx.Done():
				return nil
			}
		})
	}
	if debugListen != "" {
		g.Go(func() error {
			return serveDebug(background, debugListen, s.debugHosts, s.metrics.Handler(), s.log.Logger)
		})
	}
	return g.Wait()
}

// follow loads the catalogue and keeps it fresh. Most of the heap is the
// catalogue, which stays: a collector that waits for the heap to double would
// hold as much again for nothing, so it is told to come sooner.
func follow(ctx context.Context, cat *catalog.Catalog, loaded chan<- struct{}) error {
	if err := cat.Load(ctx); err != nil {
		return err
	}
	close(loaded)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(30)
	}
	debug.FreeOSMemory() // what loading needed
	return cat.Follow(ctx)
}

// untilStopped makes the end that was asked for no failure.
func untilStopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// ready returns why the service cannot answer yet, or nil. The simulated
// market is shown once its first month is in. A store that was empty is shown
// once it has a report, or the regulator's lists were read and have none; one
// that is not is shown at once, and the state says how fresh it is.
func (s *service) ready() error {
	if s.started.Load() {
		return nil
	}
	snapshot := s.catalog.Snapshot()
	switch {
	case snapshot == nil:
		return fault.New(fault.Unavailable, "The catalogue is still loading. Try again in a few seconds.")
	case s.demo != nil && !ingest.Started(s.ledger):
		return fault.New(fault.Unavailable, "The first month of the simulated market is still loading. Try again in a few seconds.")
	case s.reader != nil && snapshot.Len() == 0 && !ingest.ListsRead(s.ledger):
		return fault.New(fault.Unavailable, "The store is new, and nothing was read from the regulator yet. Try again in a few seconds; /api/v1/status has the state of the source.")
	}
	s.started.Store(true)
	return nil
}

// storeBlind is how long new reports cannot be kept before the source counts as
// not seen.
const storeBlind = 15 * time.Second

// storeFails is described by desk.Options.
func (s *service) storeFails() (reasons []health.Reason, blind bool) {
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
	return serveUntil(ctx, l, private.Guard{Names: hosts}.Handler(h))
}
