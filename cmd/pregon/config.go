package main

import (
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"pregon/internal/fault"
)

const envPrefix = "PREGON"

// cli is every command. Flags are settable by environment too: --base-url is
// PREGON_BASE_URL. docs/cli.md is generated from it.
type cli struct {
	Serve       serveCmd       `cmd:"" help:"Serve the API."`
	Import      importCmd      `cmd:"" help:"Load filings or issuers from JSON Lines."`
	Export      exportCmd      `cmd:"" help:"Write filings or issuers as JSON Lines on standard output."`
	Migrate     migrateCmd     `cmd:"" help:"Bring the store's schema up to date and exit. The other commands do it too when they start."`
	CheckConfig checkConfigCmd `cmd:"" help:"Check the settings that serve would start with, print them, and exit."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
}

// storeFlag is taken by every command that touches the store.
type storeFlag struct {
	Store string `default:"sqlite:data/pregon.db" placeholder:"sqlite:PATH|postgres://…" help:"Where everything is kept: sqlite:PATH for a file, or a postgres:// address."`
}

// serveConfig is what serve can be told.
type serveConfig struct {
	storeFlag
	Listen      string     `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to serve on. Port 0 takes a free one."`
	BaseURL     string     `placeholder:"URL" help:"Address under which clients reach the service. Default: http:// and the address it listens on."`
	Source      string     `default:"none" enum:"none,demo" help:"Where filings come from: none serves what the store holds, demo fills an empty store with a fictional market."`
	DebugListen string     `placeholder:"HOST:PORT" help:"Address for metrics (/metrics) and profiles (/debug/pprof/). Keep it private. Off by default."`
	LogFormat   string     `default:"text" enum:"text,json" help:"Form of the log: text or json."`
	LogLevel    slog.Level `default:"info" placeholder:"LEVEL" help:"Least level to log: debug, info, warn or error. Requests are info."`
}

// validate finds what a flag's own type cannot: settings that make no sense,
// alone or together.
func (c *serveConfig) validate() error {
	if _, err := parseStore(c.Store); err != nil {
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
	if c.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || strings.ContainsAny(c.BaseURL, "?#") {
		return fault.New(fault.Invalid, "--base-url %q must be http:// or https:// and a host, with nothing after it", c.BaseURL)
	}
	return nil
}

// baseURL returns the address for clients, given the one really listened on.
func (c *serveConfig) baseURL(listening string) string {
	if c.BaseURL != "" {
		return strings.TrimRight(c.BaseURL, "/")
	}
	host, port, err := net.SplitHostPort(listening)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return "http://" + net.JoinHostPort("127.0.0.1", port) // every address: nobody can call that one
	}
	return "http://" + listening
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

// storeSpec is a --store taken apart.
type storeSpec struct {
	path string // of a SQLite file, or
	url  string // of a PostgreSQL database
}

func parseStore(s string) (storeSpec, error) {
	scheme, rest, _ := strings.Cut(s, ":")
	switch {
	case scheme == "sqlite" && rest != "" && !strings.HasPrefix(rest, "//") && rest != ":memory:":
		return storeSpec{path: rest}, nil
	case scheme == "postgres" || scheme == "postgresql":
		if u, err := url.Parse(s); err == nil && strings.HasPrefix(rest, "//") && u.Path != "/" {
			return storeSpec{url: s}, nil
		}
	}
	// What it is instead may be a secret in the wrong place: it is not repeated.
	return storeSpec{}, fault.New(fault.Invalid, "--store must be sqlite:PATH, a file, or postgres://USER@HOST/DATABASE")
}

// String shows a store without its secrets.
func (s storeSpec) String() string {
	if s.url == "" {
		return "sqlite:" + s.path
	}
	u, err := url.Parse(s.url)
	if err != nil {
		return "postgres://…"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path} // parameters can hold passwords too
	if u.User != nil {
		shown.User = url.User(u.User.Username())
	}
	return shown.String()
}

// show is the store as it may be printed.
func (f storeFlag) show() string {
	spec, err := parseStore(f.Store)
	if err != nil {
		return "?"
	}
	return spec.String()
}

// checkEnvironment refuses a PREGON_ variable that no flag reads: a misspelt
// one would be passed over without a word.
func checkEnvironment(app *kong.Application, environ []string) error {
	known := map[string]bool{}
	_ = kong.Visit(app, func(n kong.Visitable, next kong.Next) error {
		if f, ok := n.(*kong.Flag); ok {
			for _, name := range f.Envs {
				known[name] = true
			}
		}
		return next(nil)
	})
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix+"_") {
			continue
		}
		if !known[name] {
			return fault.New(fault.Invalid, "the environment variable %s is not a setting; these are: %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if value == "" {
			return fault.New(fault.Invalid, "the environment variable %s is empty: give it a value or unset it", name)
		}
	}
	return nil
}

type checkConfigCmd struct{ serveConfig }

// Run checks and prints the settings in force, secrets hidden.
func (c *checkConfigCmd) Run(p *process) error {
	if err := c.validate(); err != nil {
		return err
	}
	for _, line := range [][2]string{
		{"store", c.show()},
		{"listen", c.Listen},
		{"base-url", c.baseURL(c.Listen)},
		{"source", c.Source},
		{"debug-listen", orOff(c.DebugListen)},
		{"log-format", c.LogFormat},
		{"log-level", strings.ToLower(c.LogLevel.String())},
	} {
		fmt.Fprintf(p.stdout, "%-13s %s\n", line[0], line[1])
	}
	return nil
}

func orOff(s string) string {
	if s == "" {
		return "off"
	}
	return s
}
