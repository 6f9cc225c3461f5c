package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/auth"
	"pregon/internal/catalog"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/document/index"
	"pregon/internal/fault"
	"pregon/internal/fault/outage"
	"pregon/internal/mcp"
	"pregon/internal/proof/transparency"
	"pregon/internal/push/events"
	"pregon/internal/push/webhook"
	"pregon/internal/query"
	"pregon/internal/rest"
	"pregon/internal/retry"
	"pregon/internal/server/httpserver"
	"pregon/internal/server/private"
	"pregon/internal/server/telemetry"
	"pregon/internal/server/tracing"
	"pregon/internal/sim/demo"
	"pregon/internal/source/coverage"
	"pregon/internal/source/ingest"
	"pregon/internal/store/engine"
	"pregon/internal/store/highwater"
	"pregon/internal/store/monitor"
	"pregon/internal/transfer/bulk"
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
	log, err := c.newLog(p)
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
		return fault.UnlessCanceled(err)
	}
	defer db.Close()
	listener, fromSystemd, err := c.listen(p) // after the store, so that no client connects before there is an answer
	if err != nil {
		return err
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
	s.stop, s.patientClients = stop, fromSystemd
	reportReady, endReports := notify(ctx, p, log.Logger)
	defer endReports()
	s.announce = func() { c.announce(p.stdout, log, base); reportReady() }
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

func (c *serveConfig) newLog(p *process) (*telemetry.Log, error) {
	stderr := p.stderr
	if c.LogFormat == "text" && p.colors(stderr) {
		stderr = telemetry.Colored(stderr)
	}
	log, err := telemetry.NewLog(stderr, c.LogFormat, c.LogLevel)
	if err != nil {
		return nil, err
	}
	log.Access = c.AccessLog
	return log, nil
}

// announce prints the address of the service, or logs it if the log is JSON, which
// programs read.
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
	traces    *tracing.Tracer // nil unless they are sent
	catalog   *catalog.Catalog
	coverage  *coverage.Tracker
	auth      *auth.Auth
	events    *events.Hub
	highwater *highwater.Keeper
	logKeys   *transparency.Keys
	proofs    *transparency.Publisher
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
	bulk      rest.Bulk
	bulkMaker *bulk.Maker // nil if this process makes no snapshots
	server    *httpserver.Server
	// patientClients means that connections wait in the socket of systemd while the
	// catalogue is loaded, and are not refused.
	patientClients bool
	role           role

	awaitsSource bool        // a new store is filled from the source, by this process or another
	started      atomic.Bool // the first data is loaded

	engine     engine.Store // under store
	storeBytes atomic.Int64 // size of the store, -1 when it is not known

	suspectTimes atomic.Int64 // new reports with a time of publication that cannot be true

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

// run runs the components until the context ends or one of them fails. What
// requests need runs until the last of them is answered; reading the source stops
// at once, so that another process can take the lease.
func (s *service) run(ctx context.Context, listener net.Listener, debugListen string) error {
	g, ctx := errgroup.WithContext(ctx)
	context.AfterFunc(ctx, s.stop) // also when a component fails
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	go s.log.Run(background)
	loaded := make(chan struct{})
	g.Go(func() error {
		defer stopBackground()
		return s.serve(ctx, listener, loaded)
	})
	whenLoaded := func(ctx context.Context, run func(context.Context) error) {
		g.Go(func() error {
			select {
			case <-loaded:
				return fault.UnlessCanceled(run(ctx))
			case <-ctx.Done():
				return nil
			}
		})
	}
	always := func(run func(context.Context) error) {
		g.Go(func() error { return fault.UnlessCanceled(run(background)) })
	}
	always(func(ctx context.Context) error { return follow(ctx, s.catalog, s.log.Logger, loaded) })
	always(s.coverage.Follow)
	if s.role.serves() {
		always(s.logKeys.Follow)
		always(s.proofs.Run)
	}
	always(s.auth.Run)
	if s.mcp != nil {
		always(s.mcp.Run)
	}
	always(func(ctx context.Context) error { s.events.Watch(ctx, s.query.State); return nil })
	whenLoaded(background, func(ctx context.Context) error { s.highwater.Run(ctx, s.events.Seen); return nil })
	if s.role.delivers() {
		whenLoaded(ctx, s.webhooks.Run) // filters may name what only the directory knows
	} else {
		always(s.webhooks.Follow)
	}
	whenLoaded(ctx, s.store.RunChecks) // which would slow down loading
	if s.role.ingests() {
		whenLoaded(ctx, (&index.Keeper{Store: s.store, Holder: ingest.ProcessName(), Logger: s.log.Logger}).Run)
	}
	g.Go(func() error { s.measureStore(ctx); return nil })
	whenLoaded(ctx, func(ctx context.Context) error { s.whenReady(ctx, s.announce); return nil })
	if s.demo != nil {
		always(s.demo.Run)
	}
	if s.reader != nil {
		whenLoaded(ctx, s.reader.Run)
	}
	if s.bulkMaker != nil {
		whenLoaded(ctx, s.bulkMaker.Run)
	}
	if debugListen != "" {
		g.Go(func() error {
			return serveDebug(background, debugListen, s.debugHosts, s.metrics.Handler(), s.log.Logger)
		})
	}
	return g.Wait()
}

// serve serves clients, at once or when the catalogue is loaded.
func (s *service) serve(ctx context.Context, listener net.Listener, loaded <-chan struct{}) error {
	if s.patientClients {
		select {
		case <-loaded:
		case <-ctx.Done():
		}
	}
	return s.server.Run(ctx, listener)
}

// follow loads the catalogue and then follows the store. Most of the heap is the
// catalogue, which is long-lived: with the default GOGC the heap would grow to
// twice its size before each collection.
func follow(ctx context.Context, cat *catalog.Catalog, logger *slog.Logger, loaded chan<- struct{}) error {
	trouble := outage.Log{Logger: logger}
	for failures := 0; ; failures++ {
		err := cat.Load(ctx)
		if err == nil {
			break
		}
		if fault.KindOf(err) != fault.Unavailable {
			return err
		}
		trouble.Failed("the catalogue cannot be loaded: trying again", "err", err)
		if err := retry.Sleep(ctx, retry.Jitter(retry.Backoff(failures, time.Second, 10*time.Second))); err != nil {
			return err
		}
	}
	trouble.Recovered("the catalogue is loaded")
	close(loaded)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(30)
	}
	debug.FreeOSMemory() // garbage of loading
	return cat.Follow(ctx)
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
