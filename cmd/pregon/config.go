package main

import (
	"log/slog"
	"net"
	"strings"
	"time"

	"pregon/internal/cli"
	"pregon/internal/discovery"
	"pregon/internal/fault"
	"pregon/internal/server/origin"
	"pregon/internal/server/telemetry"
	"pregon/internal/service"
	"pregon/internal/service/sources"
	"pregon/internal/store/engine"
)

// commands lists every command. Flags are settable by environment too: --base-url is
// PREGON_BASE_URL. docs/cli.md is generated from it.
type commands struct {
	Serve       serveCmd       `cmd:"" help:"Serve the API."`
	Backfill    backfillCmd    `cmd:"" help:"Load history from the source, beside a running serve or alone."`
	Tail        tailCmd        `cmd:"" help:"Print new reports as they come, from the store or from a service."`
	Document    documentCmd    `cmd:"" help:"Print the text of a report's document, or the document itself."`
	Webhooks    webhooksCmd    `cmd:"" help:"List, disable and delete webhooks."`
	Alerts      alertsCmd      `cmd:"" help:"List and pause channels of alerts, and send a sample."`
	Keys        keysCmd        `cmd:"" help:"Create, list, revoke and rotate API keys."`
	SigningKey  signingKeyCmd  `cmd:"" help:"Rotate the key that signs access tokens."`
	LogKey      logKeyCmd      `cmd:"" help:"List, add and remove the keys that sign the transparency log."`
	MCP         mcpCmd         `cmd:"" name:"mcp" help:"Print the description of the service for the MCP registry."`
	Sim         simCmd         `cmd:"" help:"Run the simulated regulator and exchange on their own."`
	Import      importCmd      `cmd:"" help:"Load reports, issuers or positions from JSON Lines."`
	Export      exportCmd      `cmd:"" help:"Write reports, issuers or positions as JSON Lines, CSV or Parquet."`
	Positions   positionsCmd   `cmd:"" help:"Erase names of natural persons from positions."`
	Migrate     migrateCmd     `cmd:"" help:"Bring the store's schema up to date and exit. The other commands do it too when they start."`
	Copy        copyCmd        `cmd:"" help:"Copy everything in a store to another store, of the same kind or the other kind. Changes keep their numbers. It may run beside serve, and continues if it is run again."`
	Backup      backupCmd      `cmd:"" help:"Write a consistent copy of a SQLite store, also while serve uses it."`
	Restore     restoreCmd     `cmd:"" help:"Record that a backup of the store was restored. Run it before anything else opens the store: clients that are ahead of the backup then continue from its last change."`
	Verify      verifyCmd      `cmd:"" help:"Check all invariants of the store, beside a running serve or alone, and repair what can be rebuilt. With --log: check that the transparency log of a service only grows. With report.json and proof.json: check that the log has a report. Exits with 1 if something is wrong."`
	Health      healthCmd      `cmd:"" help:"Ask serve on this machine whether it is ready: exits with 0 if it is, and else with 1."`
	Compact     compactCmd     `cmd:"" help:"Remove old and unused data, but never the log. Print the sizes of all tables, and return the space to the file system."`
	Doctor      doctorCmd      `cmd:"" help:"Read each surface of the source once, check this machine for serve with the same settings, and report anything unexpected. Exits with 1 if reports would be lost."`
	CheckConfig checkConfigCmd `cmd:"" help:"Check the settings that serve would start with, print them, and exit."`
	Completion  completionCmd  `cmd:"" help:"Print the completion script of a shell."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
	Help        helpCmd        `cmd:"" help:"Print help on a command."`

	ShowVersion versionFlag `name:"version" env:"-" help:"Print the version."`

	ExtractWorker extractWorkerCmd `cmd:"" hidden:"" help:"Read documents from standard input, for serve and backfill."`
}

// storeFlag is embedded by every command that uses the store.
type storeFlag struct {
	Store string `default:"sqlite:data/pregon.db" placeholder:"sqlite:PATH|postgres://…" help:"Where data is stored: sqlite:PATH for a file, sqlite:PATH?mode=rw for one that must exist already, or a postgres:// address."`
}

// newStoreFlags are embedded by every command that creates a missing store.
type newStoreFlags struct {
	storeFlag
	NewStore bool `help:"Create an empty store if the SQLite file is missing or empty, although a file beside it shows that there was a store. Its reports, keys and webhooks are then lost. Use this flag once."`
}

// sourceFlags are embedded by every command that reads the source.
type sourceFlags struct {
	RegulatorURL string        `name:"regulator-url" default:"https://www.cnmv.es" placeholder:"ORIGIN" help:"The regulator's site."`
	ExchangeURL  string        `name:"exchange-url" default:"https://apiweb.bolsasymercados.es" placeholder:"ORIGIN" help:"The exchange's public data."`
	Pace         time.Duration `default:"250ms" help:"Shortest time between two requests to the regulator. Less than 250ms only for a regulator on this machine."`
	Contact      string        `placeholder:"TEXT" help:"How the regulator can reach you, sent with every request: an address or a page. Default: the base URL, if that is not of this machine."`
}

// minPace keeps us from overloading a site that others need too.
const minPace = 250 * time.Millisecond

func (f *sourceFlags) validate() error {
	for flag, value := range map[string]string{"--regulator-url": f.RegulatorURL, "--exchange-url": f.ExchangeURL} {
		if !origin.Valid(value) {
			return fault.New(fault.Invalid,
				"%s %q must be http:// or https:// and a host, with nothing after it", flag, value)
		}
	}
	if f.Pace < 0 || f.Pace < minPace && !origin.IsLocal(f.RegulatorURL) {
		return fault.New(fault.Invalid, "--pace %v must be at least %v, unless --regulator-url is on this machine", f.Pace, minPace)
	}
	if strings.ContainsFunc(f.Contact, func(c rune) bool { return c < ' ' || c > '~' }) {
		return fault.New(fault.Invalid, "--contact must be plain ASCII: it is sent in a header")
	}
	return nil
}

// site returns the source that the flags name. Base is the address of the service, ""
// if there is none.
func (f *sourceFlags) site(base string) sources.Site {
	return sources.Site{
		Regulator: f.RegulatorURL,
		Exchange:  f.ExchangeURL,
		Pace:      f.Pace,
		Contact:   f.Contact,
		BaseURL:   base,
		Version:   version,
	}
}

// serveConfig holds the settings of serve.
type serveConfig struct {
	newStoreFlags
	StoreRead string        `placeholder:"postgres://…" help:"Address of a standby server of --store, from which a process with --role serve reads reports and documents."`
	Role      service.Role  `default:"all" enum:"all,serve,ingest,deliver" help:"What this process does: serve clients, ingest from the source, deliver to webhooks, or all of it. Processes on one store share the work."`
	WaitStore time.Duration `default:"60s" help:"How long to wait at the start for a PostgreSQL that does not answer, before giving up."`
	Listen    string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to serve on. Port 0 takes a free one. Not used with a socket of systemd."`
	Drain     time.Duration `default:"5s" help:"How long to keep serving after a signal to stop, while /readyz answers 503, so that load balancers notice. A second signal ends it at once."`
	BaseURL   string        `placeholder:"URL" help:"Address under which clients reach the service. Default: http:// and the address it listens on."`
	Source    string        `default:"cnmv" enum:"cnmv,demo,none" help:"Where reports come from: cnmv is the regulator, demo a simulated market that needs no network, none serves what the store holds."`
	sourceFlags
	Poll time.Duration `default:"1s" help:"Time between two polls of each of the regulator's feeds."`
	Rate cli.Rate      `default:"12" placeholder:"N/min" help:"New reports a minute of the simulated market."`
	registerFlags
	documentFlags
	modelFlags
	bulkFlags
	accessFlags
	MCPOrigins          []string `name:"mcp-origin" placeholder:"ORIGIN" help:"Origin of web pages that may call /api/mcp, such as https://agent.example, or * for any. May be repeated. Default: the service's own."`
	MCPRegistryAuth     string   `name:"mcp-registry-auth" placeholder:"PROOF" help:"Proof for the MCP registry that the domain of --base-url is yours, such as v=MCPv1; k=ed25519; p=…: the public key of the pair that you publish with. It is served at /.well-known/mcp-registry-auth."`
	WebhookOwnerDays    int      `default:"30" placeholder:"DAYS" help:"Days after which a webhook is paused if its owner uses tokens and sent no request: 1 to 3650, or 0 (never pause)."`
	WebhookAllowPrivate bool     `help:"Allow webhooks at any address and over plain http: for tests and local use. Every holder of a key can then make this service call into your network."`
	alertFlags
	watchlistFlags
	DebugListen  string              `placeholder:"HOST:PORT" help:"Address for metrics (/metrics) and profiles (/debug/pprof/). Keep it private. Off by default."`
	DebugHosts   []string            `name:"debug-host" placeholder:"NAME" help:"Host name with a dot under which clients may call --debug-listen, such as metrics.corp.example. May be repeated. IP addresses and names without a dot are always allowed."`
	OTLPEndpoint string              `name:"otlp-endpoint" placeholder:"URL" help:"OpenTelemetry collector that receives traces, over HTTP in protobuf, such as http://127.0.0.1:4318. Default: none."`
	LogFormat    string              `default:"text" enum:"text,json" help:"Format of the log: text or json."`
	AccessLog    telemetry.AccessLog `default:"all" placeholder:"all|errors|1/N|off" help:"Requests to log: all; errors (answers with a 5xx status); 1/N (errors, and one in N of the others); or off."`
	LogLevel     slog.Level          `default:"info" placeholder:"debug|info|warn|error" help:"Lowest level to log: debug, info, warn or error. Requests are info."`
}

// validate checks what the types of the flags cannot: values, and combinations of
// them. It replaces origins by their canonical form.
func (c *serveConfig) validate() error {
	if err := c.validateStore(); err != nil {
		return err
	}
	if c.Source == "demo" && c.Role != service.All {
		return fault.New(fault.Invalid, "--role %s cannot be combined with --source demo: the simulated market runs "+
			"inside one process, with --role all", c.Role)
	}
	if err := cli.CheckAddress("--listen", c.Listen); err != nil {
		return err
	}
	if c.DebugListen != "" {
		if err := cli.CheckAddress("--debug-listen", c.DebugListen); err != nil {
			return err
		}
		if c.DebugListen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
			return fault.New(fault.Invalid,
				"--listen and --debug-listen are both %s: metrics and profiles need an address of their own", c.Listen)
		}
	}
	if c.Drain < 0 || c.Drain > 5*time.Minute {
		return fault.New(fault.Invalid, "--drain %v must be from 0s to 5m", c.Drain)
	}
	if err := c.sourceFlags.validate(); err != nil {
		return err
	}
	if err := c.validatePoll(); err != nil {
		return err
	}
	if err := c.registerFlags.validate(); err != nil {
		return err
	}
	if err := c.canonicalize(); err != nil {
		return err
	}
	if err := c.validateBuckets(); err != nil {
		return err
	}
	if err := c.modelFlags.validate(); err != nil {
		return err
	}
	if err := c.validateTraces(); err != nil {
		return err
	}
	if c.MCPRegistryAuth != "" {
		if err := discovery.CheckProof(c.MCPRegistryAuth); err != nil {
			return fault.New(fault.Invalid, "--mcp-registry-auth %v", err)
		}
	}
	if c.WebhookOwnerDays < 0 || c.WebhookOwnerDays > 3650 {
		return fault.New(fault.Invalid, "--webhook-owner-days %d must be 0 (never pause) or 1 to 3650",
			c.WebhookOwnerDays)
	}
	if err := c.watchlistFlags.validate(); err != nil {
		return err
	}
	if err := c.alertFlags.validate(); err != nil {
		return err
	}
	return c.accessFlags.validate(c.baseURL(c.Listen))
}

func (c *serveConfig) validateTraces() error {
	if c.OTLPEndpoint == "" {
		return nil
	}
	if u, ok := origin.ParseHTTP(c.OTLPEndpoint); !ok || u.RawQuery != "" || u.Fragment != "" {
		return fault.New(fault.Invalid, "--otlp-endpoint must be http:// or https:// and a host, perhaps with a "+
			"path; put a key into OTEL_EXPORTER_OTLP_HEADERS")
	}
	return nil
}

func (c *serveConfig) validateStore() error {
	address, err := c.address()
	if err != nil {
		return err
	}
	if c.WaitStore < 0 || c.WaitStore > time.Hour {
		return fault.New(fault.Invalid, "--wait-store %v must be from 0s to 1h", c.WaitStore)
	}
	if c.StoreRead == "" {
		return nil
	}
	if standby, err := engine.ParseAddress(c.StoreRead); err != nil || !standby.IsPostgres() {
		return fault.New(fault.Invalid, "--store-read must be postgres://USER@HOST/DATABASE, the address of a "+
			"standby server of --store")
	}
	if c.Role != "serve" || !address.IsPostgres() {
		return fault.New(fault.Invalid, "--store-read needs --role serve and a postgres:// --store: other processes "+
			"must not read from a server that is behind")
	}
	return nil
}

// validatePoll refuses an interval that would leave no requests to anything but the
// three feeds.
func (c *serveConfig) validatePoll() error {
	shortest := max(4*c.Pace, 10*time.Millisecond)
	if c.Source == "demo" {
		shortest = 10 * time.Millisecond // it has no --pace
	}
	if c.Poll < shortest || c.Poll > time.Minute {
		return fault.New(fault.Invalid, "--poll %v must be from %v, four times the pace, to 1m", c.Poll, shortest)
	}
	return nil
}

// canonicalize replaces origins by their canonical form.
func (c *serveConfig) canonicalize() (err error) {
	if host, _, _ := net.SplitHostPort(c.Listen); c.BaseURL == "" && strings.Contains(host, "%") {
		return fault.New(fault.Invalid, "--listen %q has a zone, which is valid on this machine only: set "+
			"--base-url to the address that clients use", c.Listen)
	}
	if given := c.BaseURL; given != "" {
		if c.BaseURL, err = origin.Canonical(given); err != nil {
			return fault.New(fault.Invalid, "--base-url %q %v", given, err)
		}
	}
	for i, given := range c.MCPOrigins {
		if given == "*" {
			continue
		}
		if c.MCPOrigins[i], err = origin.Canonical(given); err != nil {
			return fault.New(fault.Invalid, "--mcp-origin %q %v; or use * for any", given, err)
		}
	}
	return nil
}

// baseURL returns the address for clients, given the address of the listener.
func (c *serveConfig) baseURL(listening string) string {
	if c.BaseURL != "" {
		return c.BaseURL
	}
	return origin.OfListener(listening)
}
