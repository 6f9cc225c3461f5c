package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"pregon/internal/auth"
	"pregon/internal/auth/secret"
	"pregon/internal/server/telemetry"
	"pregon/internal/service"
	"pregon/internal/service/sources"
	"pregon/internal/store/engine"
)

type serveCmd struct{ serveConfig }

// Run serves until the context ends.
func (c *serveCmd) Run(ctx context.Context, p *process) error {
	if err := c.validate(); err != nil {
		return err
	}
	log, err := c.newLog(p)
	if err != nil {
		return err
	}
	defer log.Flush()
	o, err := c.options(p, log)
	if err != nil {
		return err
	}
	return service.Run(ctx, o)
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
func (c *serveConfig) announce(stdout io.Writer, log *telemetry.Log, base, demoLink string) {
	if c.LogFormat == "json" {
		log.Info("ready", "base_url", base)
		return
	}
	log.Flush() // so that this is the last line
	if demoLink != "" {
		fmt.Fprintf(stdout, "Sign in to the demo (this link works once): %s\n", demoLink)
	}
	fmt.Fprintf(stdout, "Pregón is ready: %s/\n", base)
}

// options translates the flags, which must be valid, into those of the service.
func (c *serveConfig) options(p *process, log *telemetry.Log) (service.Options, error) {
	o := service.Options{
		Version:    version,
		Role:       c.Role,
		Log:        log,
		Getenv:     p.getenv,
		Listen:     c.Listen,
		BaseURL:    c.BaseURL,
		ConfigFile: c.Config,
		Announce:   func(base, demoLink string) { c.announce(p.stdout, log, base, demoLink) },
	}

	o.Observation.OTLPEndpoint = c.OTLPEndpoint
	o.Observation.DebugListen = c.DebugListen
	o.Observation.DebugHosts = c.DebugHosts
	o.Observation.QuietSource = c.Source == "demo" && c.LogLevel >= slog.LevelInfo

	if err := c.storageOptions(&o); err != nil {
		return o, err
	}
	c.sourceOptions(&o)

	var err error
	if o.Documents, err = c.documentFlags.settings(p, log.Logger); err != nil {
		return o, err
	}
	o.Documents.Model = c.modelFlags.settings(p)

	if err := c.authorizationOptions(p, &o); err != nil {
		return o, err
	}

	o.Push.AllowPrivate = c.WebhookAllowPrivate
	if o.Push.Alerts, err = c.alertFlags.settings(p); err != nil {
		return o, err
	}
	o.Push.Watchlists = c.watchlistFlags.settings()
	o.Push.AccountTimeout = time.Duration(c.WebhookOwnerDays) * 24 * time.Hour

	if o.Snapshots, err = c.snapshots(p, o.Documents.CacheDir); err != nil {
		return o, err
	}

	o.Surfaces.Drain = c.Drain
	o.Surfaces.MaxConnections = c.MaxConnections
	o.Surfaces.MaxPerAddress = c.MaxPerAddress
	o.Surfaces.MCPOrigins = c.MCPOrigins
	o.Surfaces.RegistryProof = c.MCPRegistryAuth
	return o, nil
}

func (c *serveConfig) storageOptions(o *service.Options) (err error) {
	if o.Storage.Address, err = c.address(); err != nil {
		return err
	}
	o.Storage.Wait = c.WaitStore
	if c.StoreRead == "" {
		return nil
	}
	standby, err := engine.ParseAddress(c.StoreRead)
	o.Storage.Standby = &standby
	return err
}

func (c *serveConfig) sourceOptions(o *service.Options) {
	o.Sources.Kind = sources.Kind(c.Source)
	o.Sources.Site = c.site("") // the service adds its base URL
	o.Sources.Poll = c.Poll
	o.Sources.MarketFile = filepath.Join("data", "sim.jsonl")
	if path := o.Storage.Address.Path(); path != "" {
		o.Sources.MarketFile = filepath.Join(filepath.Dir(path), "sim.jsonl")
	}
	o.Sources.MarketRate = float64(c.Rate)
	o.Sources.Registers = c.registerFlags.settings()
}

func (c *serveConfig) authorizationOptions(p *process, o *service.Options) (err error) {
	if o.Authorization.Box, err = secret.NewBox(p.getenv(secretKeyEnv)); err != nil {
		return err
	}
	if o.Authorization.Config, err = auth.ReadConfig(c.Config); err != nil {
		return err
	}
	o.Authorization.AuditFile = c.AuditLog
	o.Authorization.Proxies = c.proxies()
	o.Authorization.Redis = c.Redis
	o.Authorization.AnonymousLimit = c.AnonymousLimit
	o.Authorization.MaxRequests = c.MaxRequests
	o.Authorization.SignIn = c.SignIn == "on"
	return nil
}
