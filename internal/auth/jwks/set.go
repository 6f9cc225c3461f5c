// Package jwks holds the JSON Web Key Sets of other parties, from files or URLs, to
// verify the signatures of their tokens.
//
// A caller rarely waits. Stale keys are used while the set is refreshed in the
// background; only an unknown key, or the lack of any, is waited for. Tokens cannot
// cause more than one fetch in ten seconds, whatever keys they name.
package jwks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/fault"
)

const (
	minFetchInterval = 10 * time.Second
	fetchTimeout     = 5 * time.Second
	maxStale         = 24 * time.Hour // how long keys are used after the last successful load

	defaultFresh = 10 * time.Minute
	minFresh     = time.Minute
	maxFresh     = time.Hour
)

// Set holds the keys of one party. It is safe for concurrent use.
type Set struct {
	load    func(context.Context) (body []byte, fresh time.Duration, err error)
	failure string // message when load fails
	logger  *slog.Logger

	mu     sync.Mutex
	keys   []jose.JSONWebKey // never changed in place
	loaded time.Time         // last successful load
	stale  time.Time         // when to load again
	tried  time.Time         // start of the last load
	err    error             // of the last load
	flight chan struct{}     // closed at the end of the current load; nil without one
}

// File returns the set in a file, which must be valid now. It is reloaded like a
// remote set.
func File(path string, logger *slog.Logger) (*Set, error) {
	s := &Set{
		load:    func(context.Context) ([]byte, time.Duration, error) { return read(path) },
		failure: "the keys of " + path + " cannot be read",
		logger:  logger,
		tried:   time.Now(),
	}
	if err := s.reload(context.Background()); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%s", s.failure)
	}
	return s, nil
}

// Inline returns the set in a text, which must be valid.
func Inline(body []byte) (*Set, error) {
	s := &Set{load: func(context.Context) ([]byte, time.Duration, error) { return body, maxFresh, nil }}
	return s, s.reload(context.Background())
}

// Remote returns the set at a URL, loaded on first use. Redirects are not followed.
func Remote(url string, client *http.Client, logger *slog.Logger) *Set {
	c := *client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Set{
		load:    func(ctx context.Context) ([]byte, time.Duration, error) { return fetch(ctx, &c, url) },
		failure: "the keys of " + url + " cannot be fetched",
		logger:  logger,
	}
}

// Keys returns the keys that can verify a signature made with alg: those with
// exactly this kid, or all if kid is empty. To find none is not an error. The keys
// are shared and must not be modified.
//
// It returns an Unavailable fault, with a text for the log, when the set was never
// loaded or too long ago, and the error of the context when that ends first.
func (s *Set) Keys(ctx context.Context, kid, alg string) ([]jose.JSONWebKey, error) {
	all, err := s.current(ctx, kid)
	if err != nil {
		return nil, err
	}
	var usable []jose.JSONWebKey
	for _, k := range all {
		hasID := kid == "" || k.KeyID == kid
		hasAlgorithm := k.Algorithm == "" || k.Algorithm == alg
		if hasID && hasAlgorithm && CanVerify(k.Key, alg) {
			usable = append(usable, k)
		}
	}
	return usable, nil
}

// current returns all keys. It waits for a load if there is no usable key or kid is unknown.
func (s *Set) current(ctx context.Context, kid string) ([]jose.JSONWebKey, error) {
	s.mu.Lock()
	now := time.Now()
	served := s.usable(now)
	known := served && (kid == "" || slices.ContainsFunc(s.keys,
		func(k jose.JSONWebKey) bool { return k.KeyID == kid }))
	wanted := !known || !now.Before(s.stale)
	if wanted && s.flight == nil && (s.tried.IsZero() || now.Sub(s.tried) >= minFetchInterval) {
		s.start(now)
	}
	keys := s.keys
	err := s.err
	flight := s.flight
	s.mu.Unlock()

	if !known && flight != nil {
		select {
		case <-flight:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		s.mu.Lock()
		keys = s.keys
		err = s.err
		served = s.usable(time.Now())
		s.mu.Unlock()
	}
	if !served {
		return nil, err
	}
	return keys, nil
}

// usable reports whether the keys are not too old. s.mu is held.
func (s *Set) usable(now time.Time) bool {
	return !s.loaded.IsZero() && now.Sub(s.loaded) <= maxStale
}

// start loads in the background, independent of the callers that wait for it. s.mu is held.
func (s *Set) start(now time.Time) {
	flight := make(chan struct{})
	s.flight, s.tried = flight, now
	go func() {
		defer close(flight)
		ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
		defer cancel()
		err := s.reload(ctx)
		if err != nil {
			s.logger.Warn(s.failure, "err", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.flight = nil
		if err != nil {
			s.err = fault.Wrap(fault.Unavailable, err, "%s", s.failure)
		}
	}()
}

func (s *Set) reload(ctx context.Context) error {
	body, fresh, err := s.load(ctx)
	if err != nil {
		return err
	}
	keys, err := parse(body)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.keys = keys
	s.loaded = now
	s.stale = now.Add(fresh)
	s.err = nil
	return nil
}

const maxSize = 512 << 10 // decompressed

// fetch returns the body at a URL, and how long it is fresh.
func fetch(ctx context.Context, client *http.Client, address string) ([]byte, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("User-Agent", "pregon")
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	res, err := client.Do(req)
	if e, ok := errors.AsType[*url.Error](err); ok {
		return nil, 0, e.Err // without the URL, which the caller adds
	}
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("the answer has status %d", res.StatusCode)
	}
	body, err := readAll(res.Body)
	return body, Freshness(res.Header), err
}

// read returns the content of a regular file.
func read(path string) ([]byte, time.Duration, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() { // a pipe would block until it has a writer
		return nil, 0, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	body, err := readAll(f)
	return body, defaultFresh, err
}

func readAll(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxSize {
		return nil, fmt.Errorf("it is longer than %d KiB", maxSize>>10)
	}
	return body, nil
}

// Freshness returns how long a response may be cached by its headers: a minute to an
// hour.
func Freshness(h http.Header) time.Duration {
	fresh := defaultFresh
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return minFresh
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			if err == nil || errors.Is(err, strconv.ErrRange) { // ErrRange returns the maximum
				fresh = min(max(time.Duration(seconds)*time.Second, minFresh), maxFresh)
			}
		}
	}
	return fresh
}
