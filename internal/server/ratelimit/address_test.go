package ratelimit_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/server/ratelimit"
	"pregon/internal/server/ratelimit/redistest"
)

func TestParseURL(t *testing.T) {
	for url, want := range map[string]ratelimit.Endpoint{
		"redis://":                                      {Network: "tcp", Host: "localhost:6379"},
		"redis://cache":                                 {Network: "tcp", Host: "cache:6379"},
		"redis://cache:1/2":                             {Network: "tcp", Host: "cache:1", Database: 2},
		"redis://cache/2?db=3":                          {Network: "tcp", Host: "cache:6379", Database: 3},
		"redis://ana:a%2Fb@[::1]:1":                     {Network: "tcp", Host: "[::1]:1", Username: "ana", Password: "a/b"},
		"redis://:secret@cache?read_timeout=3s":         {Network: "tcp", Host: "cache:6379", Password: "secret"},
		"rediss://cache":                                {Network: "tcp", Host: "cache:6379", Server: "cache"},
		"rediss://cache?skip_verify=true":               {Network: "tcp", Host: "cache:6379", Server: "cache", Unverified: true},
		"rediss://cache?skip_verify=false":              {Network: "tcp", Host: "cache:6379", Server: "cache"},
		"unix:///run/redis.sock":                        {Network: "unix", Host: "/run/redis.sock"},
		"unix://ana:secret@/run/a/redis.sock?db=15":     {Network: "unix", Host: "/run/a/redis.sock", Username: "ana", Password: "secret", Database: 15},
		"redis://cache/-1":                              {},
		"redis://cache/1/2":                             {},
		"redis://cache?db=1&db=2":                       {},
		"redis://cache?skip_verify=true":                {}, // without TLS
		"rediss://cache?skip_verify=perhaps":            {},
		"unix://":                                       {},
		"redis://cache/99999999999999999999":            {},
		"redis://cache?" + strings.Repeat("x=1&", 1000): {},
	} {
		got, err := ratelimit.ParseURL(url)
		if got != want || (err == nil) != (want != ratelimit.Endpoint{}) {
			t.Errorf("%s: %+v, %v, want %+v", url, got, err, want)
		}
	}
}

// secured starts a TLS server in front of a Redis, and returns its address.
func secured(t *testing.T, socket string) string {
	t.Helper()
	https := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	https.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", https.TLS)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer func() { _ = in.Close() }()
				out, err := net.Dial("unix", socket)
				if err != nil {
					return
				}
				defer func() { _ = out.Close() }()
				all.Go(func() {
					_, _ = io.Copy(out, in)
					_ = out.Close()
				})
				_, _ = io.Copy(in, out)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		all.Wait()
	})
	return listener.Addr().String()
}

func TestTLS(t *testing.T) {
	server := redistest.Start(t)
	address := secured(t, strings.TrimPrefix(server.URL(), "unix://"))
	r, log := open(t, "rediss://"+address+"/1?skip_verify=true", time.Hour)
	if in := take(t, r.Shared(perHour), number(1), 100); in != 60 || !r.Up() {
		t.Errorf("%d were allowed, want 60: %s", in, log)
	}
	if n := connect(t, server.URL()+"?db=1").number("LLEN", keyOf(number(1))); n != 60 {
		t.Errorf("Redis counted %d, want 60", n)
	}
	connect(t, server.URL()).do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	if in := take(t, r.Shared(perHour), number(2), 1); in != 1 || !r.Up() {
		t.Errorf("after its connections were closed: %s", log)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	unknown, log := open(t, "rediss://"+address, time.Hour)
	if unknown.Up() || !strings.Contains(log.String(), "certificate") {
		t.Errorf("a certificate that nobody signed was accepted: %s", log)
	}
}
