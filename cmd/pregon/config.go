package main

import (
	"log/slog"
	"maps"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/fault"
	"pregon/internal/server/origin"
)

// commands lists every command. Flags are settable by environment too: --base-url is
// PREGON_BASE_URL. docs/cli.md is generated from it.
type commands struct {
	Serve       serveCmd       `cmd:"" help:"Serve the API."`
	Backfill    backfillCmd    `cmd:"" help:"Load history from the source, beside a running serve or alone."`
	Tail        tailCmd        `cmd:"" help:"Print new reports as they come, from the store or from a service."`
	Document    documentCmd    `cmd:"" help:"Print the text of a report's document, or the document itself."`
	Webhooks    webhooksCmd    `cmd:"" help:"List, disable and delete the webhooks of callers."`
	Keys        keysCmd        `cmd:"" help:"Make, list, revoke and rotate the keys of callers."`
	SigningKey  signingKeyCmd  `cmd:"" help:"Rotate the key that signs access tokens."`
	Sim         simCmd         `cmd:"" help:"Run the simulated regulator and exchange on their own."`
	Import      importCmd      `cmd:"" help:"Load reports or issuers from JSON Lines."`
	Export      exportCmd      `cmd:"" help:"Write reports or issuers as JSON Lines on standard output."`
	Migrate     migrateCmd     `cmd:"" help:"Bring the store's schema up to date and exit. The other commands do it too when they start."`
	Restore     restoreCmd     `cmd:"" help:"Tell the service that a backup of the store was put back. Run it before anything else opens the store: clients that have seen more are then sent back to where the backup ends."`
	CheckConfig checkConfigCmd `cmd:"" help:"Check the settings that serve would start with, print them, and exit."`
	Completion  completionCmd  `cmd:"" help:"Print the completion script of a shell."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
	Help        helpCmd        `cmd:"" help:"Print help on a command."`

	ShowVersion versionFlag `name:"version" env:"-" help:"Print the version."`

	ExtractWorker extractWorkerCmd `cmd:"" hidden:"" help:"Read documents from standard input, for serve and backfill."`
}

// storeFlag is taken by every command that touches the store.
type storeFlag struct {
	Store string `default:"sqlite:data/pregon.db" placeholder:"sqlite:PATH|postgres://…" help:"Where everything is kept: sqlite:PATH for a file, sqlite:PATH?mode=rw for one that must exist already, or a postgres:// address."`
}

// sourceFlags are taken by every command that asks the source.
type sourceFlags struct {
	RegulatorURL string        `name:"regulator-url" default:"https://www.cnmv.es" placeholder:"ORIGIN" help:"The regulator's site."`
	ExchangeURL  string        `name:"exchange-url" default:"https://apiweb.bolsasymercados.es" placeholder:"ORIGIN" help:"The exchange's public data."`
	Pace         time.Duration `default:"250ms" help:"Least time between two requests to the regulator. Less than 250ms only for a regulator on this machine."`
	Contact      string        `placeholder:"TEXT" help:"How the regulator can reach you, told with every request: an address or a page. Default: the base URL, if that is not of this machine."`
}

// leastPace is what we owe a site that others need too.
const leastPace = 250 * time.Millisecond

func (f *sourceFlags) validate() error {
	for flag, value := range map[string]string{"--regulator-url": f.RegulatorURL, "--exchange-url": f.ExchangeURL} {
		if !origin.Valid(value) {
			return fault.New(fault.Invalid, "%s %q must be http:// or https:// and a host, with nothing after it", flag, value)
		}
	}
	if f.Pace < 0 || f.Pace < leastPace && !origin.IsLocal(f.RegulatorURL) {
		return fault.New(fault.Invalid, "--pace %v must be at least %v, unless --regulator-url is on this machine", f.Pace, leastPace)
	}
	if strings.ContainsFunc(f.Contact, func(c rune) bool { return c < ' ' || c > '~' }) {
		return fault.New(fault.Invalid, "--contact must be plain ASCII: it travels in a header")
	}
	return nil
}

// ratePerMinute is a number, with or without "/min" after it.
type ratePerMinute float64

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *ratePerMinute) UnmarshalText(text []byte) error {
	n, err := strconv.ParseFloat(strings.TrimSuffix(string(text), "/min"), 64)
	if err != nil || !(n >= 0 && n <= 6000) {
		return fault.New(fault.Invalid, "%q must be a number from 0 to 6000, such as 12 or 12/min", text)
	}
	*r = ratePerMinute(n)
	return nil
}

// serveConfig is what serve can be told.
type serveConfig struct {
	storeFlag
	WaitStore time.Duration `default:"60s" help:"How long to wait at the start for a PostgreSQL that does not answer, before giving up."`
	Listen    string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to serve on. Port 0 takes a free one."`
	Drain     time.Duration `default:"5s" help:"How long to serve on after a signal to stop, while /readyz answers 503: the time that balancers need to notice. A second signal ends it at once."`
	BaseURL   string        `placeholder:"URL" help:"Address under which clients reach the service. Default: http:// and the address it listens on."`
	Source    string        `default:"cnmv" enum:"cnmv,demo,none" help:"Where reports come from: cnmv is the regulator, demo a simulated market that needs no network, none serves what the store holds."`
	sourceFlags
	Poll time.Duration `default:"1s" help:"Time between two looks at each of the regulator's feeds."`
	Rate ratePerMinute `default:"12" placeholder:"N/min" help:"New reports a minute of the simulated market."`
	documentFlags
	modelFlags
	accessFlags
	MCPOrigins          []string   `name:"mcp-origin" placeholder:"ORIGIN" help:"Origin of web pages that may call /api/mcp, such as https://agent.example, or * for any. May be repeated. Default: the service's own."`
	WebhookOwnerDays    int        `default:"30" placeholder:"DAYS" help:"Days for which the owner of a webhook who comes with tokens may not be seen before it gets nothing more. 0 for ever."`
	WebhookAllowPrivate bool       `help:"Let webhooks be at any address, and speak plain http: for tests and local use. Anybody with a key can then make this service call into your network."`
	DebugListen         string     `placeholder:"HOST:PORT" help:"Address for metrics (/metrics) and profiles (/debug/pprof/). Keep it private. Off by default."`
	DebugHosts          []string   `name:"debug-host" placeholder:"NAME" help:"Name with a dot by which --debug-listen may be called, such as metrics.corp.example. May be repeated. Addresses and names without a dot always may."`
	LogFormat           string     `default:"text" enum:"text,json" help:"Form of the log: text or json."`
	LogLevel            slog.Level `default:"info" placeholder:"LEVEL" help:"Least level to log: debug, info, warn or error. Requests are info."`
}

// validate finds what a flag's own type cannot: settings that make no sense,
// alone or together. It puts addresses in the form in which they are compared.
func (c *serveConfig) validate() error {
	if _, err := c.address(); err != nil {
		return err
	}
	if err := checkAddress("--listen", c.Listen); err != nil {
		return err
	}
	if c.DebugListen != "" {
		if err := checkAddress("--debug-listen", c.DebugListen); err != nil {
			return err
		}
		if c.DebugListen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
			return fault.New(fault.Invalid, "--listen and --debug-listen are both %s: metrics and profiles need an address of their own", c.Listen)
		}
	}
	if c.Drain < 0 || c.Drain > 5*time.Minute {
		return fault.New(fault.Invalid, "--drain %v must be from 0s to 5m", c.Drain)
	}
	if c.WaitStore < 0 || c.WaitStore > time.Hour {
		return fault.New(fault.Invalid, "--wait-store %v must be from 0s to 1h", c.WaitStore)
	}
	if err := c.sourceFlags.validate(); err != nil {
		return err
	}
	if err := c.validatePoll(); err != nil {
		return err
	}
	if err := c.canonicalise(); err != nil {
		return err
	}
	if err := c.modelFlags.validate(); err != nil {
		return err
	}
	if c.WebhookOwnerDays < 0 || c.WebhookOwnerDays > 3650 {
		return fault.New(fault.Invalid, "--webhook-owner-days %d must be from 1 to 3650, or 0 for ever", c.WebhookOwnerDays)
	}
	return c.accessFlags.validate(c.baseURL(c.Listen))
}

// validatePoll refuses a poll that would leave no turns of the queue to
// anything but the three feeds.
func (c *serveConfig) validatePoll() error {
	least := max(4*c.Pace, 10*time.Millisecond)
	if c.Source == "demo" {
		least = 10 * time.Millisecond // which has no pace
	}
	if c.Poll < least || c.Poll > time.Minute {
		return fault.New(fault.Invalid, "--poll %v must be from %v, four times the pace, to 1m", c.Poll, least)
	}
	return nil
}

// canonicalise brings the origins into the one form that each has.
func (c *serveConfig) canonicalise() (err error) {
	if host, _, _ := net.SplitHostPort(c.Listen); c.BaseURL == "" && strings.Contains(host, "%") {
		return fault.New(fault.Invalid, "--listen %q has a zone, which only this machine knows: tell with --base-url how clients reach it", c.Listen)
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

// baseURL returns the address for clients, given the one really listened on.
func (c *serveConfig) baseURL(listening string) string {
	if c.BaseURL != "" {
		return c.BaseURL
	}
	host, port, err := net.SplitHostPort(listening)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		listening = net.JoinHostPort("127.0.0.1", port) // every address: nobody can call that one
	}
	if base, err := origin.Canonical("http://" + listening); err == nil {
		return base
	}
	return "http://" + listening // whose port has a name, or is yet to be found
}

func checkAddress(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fault.New(fault.Invalid, "%s %q must be a host and a port, such as 127.0.0.1:8080", flag, address)
	}
	return nil
}

// warnOfSecrets warns of secrets that others on this machine, or those who get
// hold of a copy of the store, can read.
func (c *serveConfig) warnOfSecrets(p *process, log *slog.Logger) {
	if p.getenv(secretKeyEnv) == "" {
		log.Warn("the store holds the key that signs tokens and the secrets of webhooks as they are: set " + secretKeyEnv +
			" to 32 characters or more, such as what `openssl rand -base64 32` prints, and keep it apart from the store")
	}
	files := map[string]string{"--config": c.Config}
	if address, err := c.address(); err == nil {
		files["--store"] = address.Path()
	}
	for _, flag := range slices.Sorted(maps.Keys(files)) {
		info, err := os.Stat(files[flag])
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 { // where modes say nothing of others
			log.Warn("others on this machine can read or write a file that holds secrets: chmod go= it", "setting", flag, "file", files[flag], "mode", info.Mode().Perm().String())
		}
	}
}
