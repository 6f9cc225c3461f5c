package main

import (
	"net/url"

	"pregon/internal/auth"
	"pregon/internal/auth/access"
	"pregon/internal/cli"
	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
)

// accessFlags configure authorization and limits.
type accessFlags struct {
	auditFlag
	Config         string        `placeholder:"FILE.yaml" help:"File that names the identity providers (their assertions are exchanged for tokens), and limits of plans. See docs/access.md."`
	SignIn         string        `name:"signin" default:"on" enum:"on,off" help:"Whether people may sign in, manage their keys at /account, and authorize applications: on or off."`
	AnonymousLimit int           `default:"60" placeholder:"N" help:"Requests in any minute from an address without a credential. 0 for no limit."`
	Redis          string        `placeholder:"URL" help:"Redis server that counts the requests of all replicas together: redis://, rediss:// or unix://. Default: each replica counts its own."`
	MaxConnections int           `default:"10000" placeholder:"N" help:"Open connections. 0 for no limit."`
	MaxPerAddress  int           `name:"max-connections-per-address" default:"512" placeholder:"N" help:"Open connections of an address (a /64 network with IPv6), except trusted proxies and this machine. 0 for no limit."`
	MaxRequests    int           `default:"64" placeholder:"N" help:"Concurrent requests of one caller. For expensive requests the limit is an eighth of it. Further requests wait for a second and are then refused. 0 for no limit."`
	TrustedProxies []cli.Network `name:"trusted-proxy" placeholder:"CIDR" help:"Network of a proxy in front. X-Forwarded-For is trusted from there. May be repeated. Default: none."`
}

// validate checks the flags and the configuration file.
func (f *accessFlags) validate(base string) error {
	if f.AnonymousLimit < 0 || f.AnonymousLimit > 1_000_000 {
		return fault.New(fault.Invalid, "--anonymous-limit %d must be from 1 to 1000000, or 0 for no limit",
			f.AnonymousLimit)
	}
	for flag, n := range map[string]int{
		"--max-connections":             f.MaxConnections,
		"--max-connections-per-address": f.MaxPerAddress, "--max-requests": f.MaxRequests,
	} {
		if n < 0 {
			return fault.New(fault.Invalid, "%s %d must be at least 1, or 0 for no limit", flag, n)
		}
	}
	if f.Redis != "" {
		if err := ratelimit.CheckURL(f.Redis); err != nil {
			return err
		}
	}
	return auth.CheckConfig(f.Config, base)
}

// showRedis returns the address of Redis without its secrets.
func (f *accessFlags) showRedis() string {
	u, err := url.Parse(f.Redis)
	if err != nil || f.Redis == "" {
		return "off"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func (f *accessFlags) proxies() (p access.Proxies) {
	for _, n := range f.TrustedProxies {
		p = append(p, n.Prefix)
	}
	return p
}

// secretKeyEnv is the variable that holds the key which encrypts secrets in the
// store. It has no flag: see secretVariables.
const secretKeyEnv = cli.EnvPrefix + "_SECRET_KEY"
