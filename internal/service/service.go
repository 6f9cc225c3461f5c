// Package service puts the components of the service together and runs them. New creates
// them in the order in which data flows: the store, what reads the source into it, access,
// push, proofs, snapshots, and the surfaces that answer clients. Each has a package of its
// own below this one, with the settings that an operator chooses.
package service

import (
	"context"
	"slices"

	"pregon/internal/document/index"
	"pregon/internal/server/telemetry"
	"pregon/internal/service/authorization"
	"pregon/internal/service/documents"
	"pregon/internal/service/lifecycle"
	"pregon/internal/service/observe"
	"pregon/internal/service/proofs"
	"pregon/internal/service/push"
	"pregon/internal/service/snapshots"
	"pregon/internal/service/sources"
	"pregon/internal/service/storage"
	"pregon/internal/service/surfaces"
	"pregon/internal/sim/demo"
	"pregon/internal/source/ingest"
	"pregon/internal/store/engine"
)

// Options are what the command line decides, checked and ready to be used.
type Options struct {
	Version    string
	Role       Role
	Log        *telemetry.Log
	Getenv     func(string) string // for the socket and the messages of systemd
	Listen     string              // address; not used with a socket of systemd
	BaseURL    string              // under which clients reach the service; empty for that of the listener
	ConfigFile string              // that Authorization.Config was read from; empty for none
	// Announce is called once the service is ready. The link signs in to the demo, and is
	// "" if this is not a demo.
	Announce func(base, demoLink string)

	Observation   observe.Settings
	Storage       storage.Settings
	Sources       sources.Settings
	Documents     documents.Settings
	Authorization authorization.Settings
	Push          push.Settings
	Snapshots     snapshots.Settings
	Surfaces      surfaces.Settings

	demo bool // the market is simulated, and the listener is on loopback
}

// readsSource reports whether this process or another one reads the source.
func (o *Options) readsSource() bool { return o.Sources.Kind != sources.None }

// Service is a process of the service.
type Service struct {
	Observation   *observe.Observation
	Storage       *storage.Storage
	Documents     *documents.Documents // nil if this process reads no source
	Sources       *sources.Sources     // nil if this process reads no source
	Authorization *authorization.Authorization
	Push          *push.Push
	Proofs        *proofs.Proofs
	Snapshots     *snapshots.Snapshots
	Surfaces      *surfaces.Surfaces

	index   *index.Keeper // nil if this process does not ingest
	ready   *readiness
	closers []func() error
}

// New creates the components on an open store. Base is the address under which clients
// reach the service. Nothing runs before Start, except a simulated market.
func New(ctx context.Context, o Options, db engine.Store, base string) (s *Service, err error) {
	s = &Service{}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	for _, add := range []func(context.Context, Options, string) error{
		s.addObservation,
		func(ctx context.Context, o Options, base string) error { return s.addStorage(ctx, o, db, base) },
		s.addSources,
		s.addAuthorization,
		s.addPush,
		s.addProofs,
		s.addSnapshots,
		s.addSurfaces,
	} {
		if err := add(ctx, o, base); err != nil {
			return s, err
		}
	}
	s.observe()
	return s, nil
}

func (s *Service) addObservation(ctx context.Context, o Options, _ string) (err error) {
	if s.Observation, err = observe.New(ctx, o.Observation, o.Version, o.Log); err != nil {
		return err
	}
	s.closers = append(s.closers, s.Observation.Close)
	return nil
}

// addStorage creates what is durable, and what follows it.
func (s *Service) addStorage(ctx context.Context, o Options, db engine.Store, base string) (err error) {
	simulatedAt := ""
	if o.Sources.Kind == sources.Simulated {
		simulatedAt = base
	}
	s.Storage, err = storage.New(ctx, storage.Options{
		Settings:    o.Storage,
		Engine:      db,
		Logger:      o.Log.Logger,
		Metrics:     s.Observation.Metrics,
		SimulatedAt: simulatedAt,
		CacheDir:    o.Documents.CacheDir,
	})
	if err != nil {
		return err
	}
	s.closers = append(s.closers, s.Storage.Close)
	s.ready = &readiness{
		catalog:      s.Storage.Catalog,
		coverage:     s.Storage.Coverage,
		awaitsSource: o.readsSource(),
	}
	if o.Role.Ingests() {
		s.index = documents.NewIndexKeeper(s.Storage.Store, o.Log.Logger)
	}
	return o.Sources.Claim(ctx, s.Storage.Log)
}

// addSources creates what reads the source, including documents.
func (s *Service) addSources(ctx context.Context, o Options, base string) (err error) {
	if !o.readsSource() || !o.Role.Ingests() {
		return nil
	}
	s.Documents, err = documents.New(ctx, documents.Options{
		Settings:   o.Documents,
		Store:      s.Storage.Log,
		Logger:     o.Log.Logger,
		TraceModel: s.Observation.Model(),
	})
	if err != nil {
		return err
	}
	s.closers = append(s.closers, s.Documents.Close)
	o.Sources.Site.BaseURL = base
	s.Sources, err = sources.New(ctx, sources.Options{
		Settings:        o.Sources,
		Store:           s.Storage.Log,
		Coverage:        s.Storage.Coverage,
		Catalog:         s.Storage.Catalog,
		Documents:       s.Documents.Keeper,
		Workbook:        s.Documents.Workbook,
		Logger:          s.Observation.SourceLogger(),
		MarketLogger:    o.Log.Logger,
		ObserveRead:     s.Observation.Read,
		ObserveDocument: s.Observation.Documents(),
	})
	if err != nil {
		return err
	}
	s.ready.simulated = s.Sources.Demo != nil
	return nil
}

// addAuthorization creates what decides on access.
func (s *Service) addAuthorization(ctx context.Context, o Options, base string) (err error) {
	s.Authorization, err = authorization.New(ctx, authorization.Options{
		Settings: o.Authorization,
		Store:    s.Storage.Records(),
		BaseURL:  base,
		Demo:     o.demo,
		Logger:   o.Log.Logger,
	})
	if err != nil {
		return err
	}
	s.closers = append(s.closers, s.Authorization.Close)
	return nil
}

// addPush creates the events and the webhooks, whose owners authorization checks.
func (s *Service) addPush(ctx context.Context, o Options, base string) (err error) {
	o.Push.Alerts.Mailbox = o.Sources.Kind == sources.Simulated
	s.Push, err = push.New(ctx, push.Options{
		Settings: o.Push,
		Catalog:  s.Storage.Catalog,
		Log:      s.Storage.Log,
		Records:  s.Storage.Records(),
		Primary:  s.Storage.Engine,
		Accounts: push.Accounts{
			Keys:     s.Authorization.Keys,
			Accounts: s.Authorization.Accounts,
			Trusts:   s.Authorization.Trusts,
		},
		Box:             o.Authorization.Box,
		Audit:           s.Authorization.Audit,
		UserAgent:       "pregon/" + o.Version + " (+" + base + ")",
		BaseURL:         base,
		Delivers:        o.Role.Delivers(),
		Logger:          o.Log.Logger,
		ObserveDelivery: s.Observation.Deliveries(),
	})
	if err != nil {
		return err
	}
	s.closers = append(s.closers, s.Push.Close)
	s.Authorization.OnToken = s.Push.Webhooks.Seen
	return nil
}

// addProofs checks whether a backup was restored, before anything is served or written,
// and creates what publishes the log.
func (s *Service) addProofs(ctx context.Context, o Options, base string) (err error) {
	s.Proofs, err = proofs.New(ctx, proofs.Options{
		Address:     o.Storage.Address,
		CacheDir:    o.Documents.CacheDir,
		Redis:       s.Authorization.Redis,
		Primary:     s.Storage.Engine,
		Log:         s.Storage.Log,
		Records:     s.Storage.Records(),
		Box:         o.Authorization.Box,
		BaseURL:     base,
		Publishes:   o.Role.Serves(),
		Logger:      o.Log.Logger,
		EndRestored: s.Authorization.Accounts.EndRestored,
	})
	return err
}

// addSnapshots creates what lists snapshots and, in a process that ingests, what makes
// them.
func (s *Service) addSnapshots(ctx context.Context, o Options, _ string) error {
	created, err := s.Storage.Engine.CreatedAt(ctx)
	if err != nil {
		return err
	}
	s.Snapshots, err = snapshots.New(ctx, snapshots.Options{
		Settings:    o.Snapshots,
		Log:         s.Storage.Log,
		Coverage:    s.Storage.Coverage,
		Created:     created,
		Makes:       o.Role.Ingests(),
		ReadsSource: o.readsSource(),
		Leads: func() bool {
			return s.ready.check() == nil && (s.Sources == nil || s.Sources.Holding())
		},
		Requests:    func() int64 { return s.Surfaces.Requests() },
		Logger:      o.Log.Logger,
		MakerLogger: s.Observation.SourceLogger(),
	})
	return err
}

// addSurfaces creates what answers clients. A process that does not serve clients only
// answers whether it is healthy.
func (s *Service) addSurfaces(ctx context.Context, o Options, base string) error {
	created, err := s.Storage.Engine.CreatedAt(ctx)
	if err != nil {
		return err
	}
	noClients := ""
	if !o.Role.Serves() {
		noClients = "This process does not serve clients, because its --role is " + string(o.Role) +
			". It only has /healthz and /readyz."
	}
	var market *demo.Demo
	if s.Sources != nil {
		market = s.Sources.Demo
	}
	s.Surfaces, err = surfaces.New(surfaces.Options{
		Settings:       o.Surfaces,
		Version:        o.Version,
		BaseURL:        base,
		NoClients:      noClients,
		Observation:    s.Observation,
		Storage:        s.Storage,
		StoreCreated:   created,
		Auth:           s.Authorization.Auth,
		SignIn:         o.Authorization.SignIn,
		AnonymousLimit: o.Authorization.AnonymousLimit,
		Proxies:        o.Authorization.Proxies,
		Push:           s.Push,
		Proofs:         s.Proofs.Publisher,
		Bulk:           s.Snapshots.Offer,
		Demo:           market,
		ReadsSource:    o.readsSource(),
		Ready:          s.ready.check,
		Partial: func() bool {
			return o.Sources.Kind == sources.Regulator && !ingest.NamesKnown(s.Storage.Coverage)
		},
	})
	return err
}

// observe registers the metrics of all components.
func (s *Service) observe() {
	m := s.Observation.Metrics
	s.Storage.Observe()
	if s.Sources != nil {
		s.Documents.Observe(m)
		s.Sources.Observe(m, s.Surfaces.SourceState)
	}
	s.Authorization.Observe(m)
	s.Push.Observe(m)
	s.Proofs.Observe(m)
	s.Snapshots.Observe(m)
	s.Surfaces.Observe(m)
}

// start runs the components.
func (s *Service) start(g *lifecycle.Group) {
	s.Observation.Start(g)
	s.Storage.Start(g)
	if s.index != nil {
		g.LoadedUntilStop(s.index.Run)
	}
	if s.Sources != nil {
		s.Sources.Start(g)
	}
	s.Authorization.Start(g)
	s.Push.Start(g, s.Surfaces.Query.State)
	s.Proofs.Start(g, s.Push.Events.Seen)
	s.Snapshots.Start(g)
}

// Close releases what New opened, in reverse order.
func (s *Service) Close() {
	for _, end := range slices.Backward(s.closers) {
		_ = end()
	}
}
