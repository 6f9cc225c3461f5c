package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/catalog"
	"pregon/internal/discovery"
	"pregon/internal/fault"
	"pregon/internal/mcp"
	"pregon/internal/push/events"
	"pregon/internal/push/webhook"
	"pregon/internal/query"
	"pregon/internal/rest"
	"pregon/internal/server/httpserver"
	"pregon/internal/server/telemetry"
	"pregon/internal/sim/demo"
	"pregon/internal/sim/pages"
	"pregon/internal/site"
	"pregon/internal/site/console"
	"pregon/internal/source/coverage"
	"pregon/internal/source/ingest"
	"pregon/internal/store"
	"pregon/internal/store/engine"
	"pregon/internal/store/monitor"
)

// wire creates the components: the store, the catalogue that follows it, the source
// that writes to it, access, and the surfaces.
func (c *serveConfig) wire(ctx context.Context, p *process, log *telemetry.Log, opened engine.Store, base string) (s *service, err error) {
	s = &service{
		log:          log,
		metrics:      telemetry.NewMetrics(version),
		conns:        &events.ConnLimiter{},
		debugHosts:   c.DebugHosts,
		engine:       opened,
		role:         c.Role,
		awaitsSource: c.Source != "none",
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	s.storeBytes.Store(-1)
	if err := c.wireTraces(ctx, s); err != nil {
		return s, err
	}
	main, err := c.withStandby(ctx, s)
	if err != nil {
		return s, err
	}
	s.store = monitor.New(main, monitor.Options{Logger: log.Logger, Observe: s.metrics.Store})
	db := &store.Sourced{Store: s.store}
	if c.Source == "demo" {
		db.Store = demo.WithLinks(s.store, base)
	}
	s.catalog, s.coverage = catalog.New(db, log.Logger), coverage.New(db)
	s.coverage.Epoch(s.catalog.Epoch)
	s.coverage.Lease(db, ingest.LeaseName)
	s.events = events.NewHub(s.catalog, db)
	s.events.SetPrimary(s.engine) // not a standby, which may be behind
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
	if err := s.checkRestored(ctx); err != nil { // before anything is served or written
		return s, err
	}
	if err := c.wireProofs(p, s, db, base); err != nil {
		return s, err
	}
	if err := c.wireBulk(ctx, p, s, db); err != nil {
		return s, err
	}
	return s, c.wireSurfaces(ctx, s, db, base)
}

// withStandby returns the store of the service, or one that reads from --store-read.
func (c *serveConfig) withStandby(ctx context.Context, s *service) (store.Store, error) {
	if c.StoreRead == "" {
		return s.engine, nil
	}
	standby, err := engine.ParseAddress(c.StoreRead)
	if err != nil {
		return nil, err
	}
	both, end, err := standby.WithStandby(ctx, s.engine, c.WaitStore, s.log.Logger)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, end)
	return both, nil
}

// wireSource creates what reads the source, including documents.
func (c *serveConfig) wireSource(ctx context.Context, p *process, s *service, db store.Store, base string) (err error) {
	if c.Source == "none" || !c.Role.ingests() {
		return nil
	}
	if c.Source == "demo" {
		if s.demo, err = c.startDemo(ctx, s.coverage, s.log.Logger); err != nil {
			return err
		}
	}
	model, err := c.model(p.getenv(llmKeyEnv), s.log.Logger, s.traceModel())
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
		db:              db,
		coverage:        s.coverage,
		known:           s.catalog.Known(),
		recent:          s.catalog.Known(),
		documents:       s.documents,
		poll:            c.Poll,
		base:            base,
		logger:          logger,
		observe:         s.observeRead,
		observeDocument: s.traceDocuments(),
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
	audit, auditFile, err := c.audit(s.log.Logger)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, auditFile.Close, auditFile.reopenOnHangup(s.log.Logger))
	if s.auth, err = c.newAuth(ctx, epochStore{db, s.catalog.Epoch}, box, audit, base, s.log.Logger); err != nil {
		return err
	}
	s.closers = append(s.closers, s.auth.Close)
	owners := hookOwners{keys: s.auth.Keys, accounts: s.auth.Accounts, trusts: s.auth.Trusts}
	s.webhooks = webhook.New(webhook.Options{
		Store:        db,
		Sealer:       box,
		Encoder:      s.events,
		AllowPrivate: c.WebhookAllowPrivate,
		OwnerStatus:  owners.owner,
		Keys:         s.auth.Keys,
		OwnerTimeout: time.Duration(c.WebhookOwnerDays) * 24 * time.Hour,
		Logger:       s.log.Logger,
		Audit:        audit,
		UserAgent:    "pregon/" + version + " (+" + base + ")",
		Observe:      s.traceDeliveries(),
	})
	s.auth.OnToken = s.webhooks.Seen
	return s.webhooks.Refresh(ctx)
}

// wireSurfaces creates the surfaces and the server under them. A process that does
// not serve clients only answers whether it is healthy.
func (c *serveConfig) wireSurfaces(ctx context.Context, s *service, db *store.Sourced, base string) error {
	created, err := s.engine.CreatedAt(ctx)
	if err != nil {
		return err
	}
	s.query = query.New(query.Options{
		Catalog:      s.catalog,
		Coverage:     s.coverage,
		Documents:    db,
		Lacks:        s.events.Lacks,
		Log:          db,
		Version:      version,
		ReadsSource:  c.Source != "none",
		Source:       db.KnownSource,
		Ready:        s.ready,
		Partial:      func() bool { return s.awaitsSource && c.Source != "demo" && !ingest.NamesKnown(s.coverage) },
		StoreStatus:  s.storeStatus,
		StoreCreated: created,
		Limit:        s.auth.Guard.AnonymousLimit(),
		Shared:       s.auth.Shared,
	})
	closing := make(chan struct{}) // closed when streams must end
	proxies := c.proxies()
	o := httpserver.Options{
		Drain:          c.Drain,
		Closing:        func() { close(closing) },
		Mux:            http.NewServeMux(),
		Logger:         s.log.Logger,
		Source:         db.KnownSource,
		Age:            s.catalog.Behind,
		HTTPS:          strings.HasPrefix(base, "https://"),
		MaxConnections: c.MaxConnections,
		MaxPerAddress:  c.MaxPerAddress,
		MaxRequests:    maxInFlight,
		Refused:        func() { s.refused.Add(1) },
		Proxy:          func(a netip.Addr) bool { return a.IsLoopback() || proxies.Contains(a) },
		Ready:          s.ready,
		Admit:          s.auth.Guard.AdmitUnrouted,
		Remote:         proxies.Client,
		Trace:          s.traceRequests(),
		Observe: func(o httpserver.Observation) {
			s.metrics.Request(o.Route, o.Method, o.Status, o.Duration)
			if o.Route != site.LiveRoute || o.Status != http.StatusNotModified { // an open page asks every second
				s.log.Request(telemetry.Request(o))
			}
		},
	}
	if c.Role.serves() {
		err = c.register(s, &o, db, base, closing)
	} else {
		o.NoRoute = fault.New(fault.NotFound, "This process does not serve clients, because its --role is %s. It only has /healthz and /readyz.", c.Role)
	}
	if err != nil {
		return err
	}
	s.observe()
	s.server, err = httpserver.New(o)
	return err
}

// register creates REST, MCP, the token endpoint, the discovery documents and the
// pages, and registers them on the server's mux.
func (c *serveConfig) register(s *service, o *httpserver.Options, db *store.Sourced, base string, closing <-chan struct{}) (err error) {
	log := s.log.Logger
	s.rest, err = rest.New(rest.Options{
		Query:    s.query,
		Guard:    s.auth.Guard,
		Events:   s.events,
		Conns:    s.conns,
		Webhooks: s.webhooks,
		Logger:   log,
		BaseURL:  base,
		SignIn:   c.SignIn == "on",
		Keys:     s.auth.Keys,
		Accounts: s.auth.Accounts,
		Usage:    s.auth.Usage,
		Proofs:   s.proofs,
		Stopping: closing,
		Bulk:     s.bulk,
	})
	if err != nil {
		return err
	}
	documents, err := discovery.New(discovery.Options{
		BaseURL:        base,
		Version:        version,
		Source:         db.KnownSource,
		OpenAPI:        s.rest.OpenAPIJSON(),
		MCP:            mcp.Offered(),
		AnonymousLimit: c.AnonymousLimit,
		RegistryProof:  c.MCPRegistryAuth,
	})
	if err != nil {
		return err
	}
	siteOptions := site.Options{
		Query:    s.query,
		Guard:    s.auth.Guard,
		Logger:   log,
		BaseURL:  base,
		OpenAPI:  s.rest.OpenAPIJSON(),
		Programs: documents.Front(),
		Links:    documents.FrontLinks(),
	}
	if s.auth.SignIn != nil {
		siteOptions.Parts = []site.Part{console.Part()}
	}
	people, err := site.New(siteOptions)
	if err != nil {
		return err
	}
	s.mcp = mcp.New(mcp.Options{
		Query:    s.query,
		Guard:    s.auth.Guard,
		Events:   s.events,
		Conns:    s.conns,
		Logger:   log,
		BaseURL:  base,
		Origins:  c.MCPOrigins,
		Stopping: closing,
		Skills:   documents.Skills,
		SignIn:   s.auth.SignIn != nil,
	})
	s.rest.Register(o.Mux)
	s.mcp.Register(o.Mux)
	s.auth.Tokens.Register(o.Mux)
	if s.auth.OAuth != nil {
		s.auth.OAuth.Register(o.Mux)
	}
	documents.Register(o.Mux)
	people.Register(o.Mux)
	if s.auth.SignIn != nil {
		console.New(console.Options{
			Site:    people,
			SignIn:  s.auth.SignIn,
			OAuth:   s.auth.OAuth,
			API:     o.Mux,
			BaseURL: base,
		}).Register(o.Mux)
	}
	if s.demo != nil {
		o.Mux.Handle("GET "+pages.Prefix+"/", s.simulator())
	}
	mcpErrors := httpserver.ErrorWriter{TooLarge: mcp.WriteTooLarge, Failed: mcp.WriteInternalError}
	o.ErrorWriters = map[string]httpserver.ErrorWriter{access.MCPPath: mcpErrors, access.MCPSignInPath: mcpErrors}
	o.ErrorPage = people.ErrorPage
	o.IsStream = func(r *http.Request) bool {
		return r.URL.Path == rest.StreamPath || rest.IsDownload(r) || mcp.IsListen(r)
	}
	return nil
}
