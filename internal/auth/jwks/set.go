// Package jwks keeps the public keys of others, with which the signatures of
// their tokens are verified: JSON Web Key Sets, out of a file or from an
// address.
//
// Whoever verifies a token should hardly ever wait for a set. What is stale
// serves on while it is fetched anew beside; only a key that is not known, or
// no keys at all, is worth waiting for. And no token can make us ask more often
// than every ten seconds, whatever key it names.
package jwks

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/fault"
)

const (
	minFetchInterval = 10 * time.Second // the least time between two fetches
	fetchTimeout     = 5 * time.Second  // for one fetch
	maxStale         = 24 * time.Hour   // how long keys serve after they were last fetched

	defaultFresh = 10 * time.Minute
	minFresh     = time.Minute
	maxFresh     = time.Hour
)

// Set is the keys of one issuer. It is safe for concurrent use.
type Set struct {
	load    func(context.Context) (body []byte, fresh time.Duration, err error)
	failure string // what to say when load fails
	logger  *slog.Logger

	mu     sync.Mutex
	keys   []jose.JSONWebKey // never changed in place
	loaded time.Time         // when keys were
	stale  time.Time         // when they should be loaded again
	tried  time.Time         // when the last load began
	err    error             // of the last load
	flight chan struct{}     // closed when the load under way ends; nil without one
}

// File returns the set in a file, which must be good now. It is read again like
// a set from an address.
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

// Remote returns the set at an address. It is fetched when the first key is
// asked for. The client decides whom it may speak to; redirects are not
// followed, whatever the client would do.
func Remote(url string, client *http.Client, logger *slog.Logger) *Set {
	c := *client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Set{
		load:    func(ctx context.Context) ([]byte, time.Duration, error) { return fetch(ctx, &c, url) },
		failure: "the keys of " + url + " cannot be fetched",
		logger:  logger,
	}
}

// Keys returns the keys that can verify a signature made with alg. With a kid
// they are those that have exactly this one; without, all, and the caller
// decides whether to try them. That there are none is no error: then the
// signature cannot be verified. The keys are shared and must not be changed.
//
// It fails when the set was never fetched, or too long ago, with an Unavailable
// fault whose text is for a log, and with the context's error when that ends
// first.
func (s *Set) Keys(ctx context.Context, kid, alg string) ([]jose.JSONWebKey, error) {
	all, err := s.current(ctx, kid)
	if err != nil {
		return nil, err
	}
	var usable []jose.JSONWebKey
	for _, k := range all {
		if (kid == "" || k.KeyID == kid) && (k.Algorithm == "" || k.Algorithm == alg) && CanVerify(k.Key, alg) {
			usable = append(usable, k)
		}
	}
	return usable, nil
}

// current returns all keys, after a load if those at hand will not do.
func (s *Set) current(ctx context.Context, kid string) ([]jose.JSONWebKey, error) {
	s.mu.Lock()
	now := time.Now()
	served := s.usable(now)
	known := served && (kid == "" || slices.ContainsFunc(s.keys, func(k jose.JSONWebKey) bool { return k.KeyID == kid }))
	wanted := !known || !now.Before(s.stale)
	if wanted && s.flight == nil && (s.tried.IsZero() || now.Sub(s.tried) >= minFetchInterval) {
		s.start(now)
	}
	keys, err, flight := s.keys, s.err, s.flight
	s.mu.Unlock()

	if !known && flight != nil {
		select {
		case <-flight:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		s.mu.Lock()
		keys, err, served = s.keys, s.err, s.usable(time.Now())
		s.mu.Unlock()
	}
	if !served {
		return nil, err
	}
	return keys, nil
}

// serves reports whether the keys may still be used.
func (s *Set) usable(now time.Time) bool {
	return !s.loaded.IsZero() && now.Sub(s.loaded) <= maxStale
}

// start loads on its own, since it serves many callers, and none may end it for
// the others. It ends by itself, with its patience.
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
	s.keys, s.loaded, s.stale, s.err = keys, now, now.Add(fresh), nil
	return nil
}
