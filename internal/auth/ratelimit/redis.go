package ratelimit

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"pregon/internal/fault"
)

const (
	// timeout is how long a request waits for each step of asking Redis.
	timeout = 100 * time.Millisecond
	// pause is how long Redis is left alone after it failed.
	pause = time.Second
	// patience is how long a request waits for others to have asked Redis.
	redisTimeout = time.Second
	// connections is how many ask Redis at once.
	connections = 32
)

// Redis is a connection to Redis that may fail: it is then left alone for a
// while, after which a single request finds out if it is back.
type Redis struct {
	options redis.Options
	pause   time.Duration
	logger  *slog.Logger
	slots   chan struct{} // holds one for each that asks Redis

	mu      sync.Mutex
	client  *redis.Client // guarded by mu: a new one after each failure
	down    bool          // guarded by mu
	retryAt time.Time     // guarded by mu: until when it is left alone when down
	probing bool          // guarded by mu: somebody finds out if it is still down
	closed  bool          // guarded by mu
}

// OpenRedis returns a connection to the Redis of a redis://, rediss:// or
// unix:// URL, which need not be up. Timeouts and the like in the URL do not
// count: no request shall wait longer than they do here.
func OpenRedis(address string, logger *slog.Logger) (*Redis, error) {
	return open(address, logger, timeout, pause)
}

// CheckURL returns what is wrong with a URL, and asks nobody.
func CheckURL(address string) error {
	_, err := parseURL(address)
	return err
}

func parseURL(address string) (*redis.Options, error) {
	parsed, err := redis.ParseURL(address)
	if err != nil || splitsPassword(address) {
		// Its message is not repeated: whatever it names as wrong can be a part
		// of a password with a character in it that was not escaped.
		return nil, fault.New(fault.Invalid, "the URL of Redis cannot be read: it is like redis://user:password@host:6379/0, "+
			"rediss:// with TLS, or unix:///path/of/socket?db=0, and special characters of the password are percent-encoded")
	}
	return parsed, nil
}

func open(address string, logger *slog.Logger, timeout, pause time.Duration) (*Redis, error) {
	logging.Disable() // it would write to stderr
	parsed, err := parseURL(address)
	if err != nil {
		return nil, err
	}
	r := &Redis{pause: pause, logger: logger, slots: make(chan struct{}, connections), options: redis.Options{
		Network:   parsed.Network,
		Addr:      parsed.Addr,
		Username:  parsed.Username,
		Password:  parsed.Password,
		DB:        parsed.DB,
		TLSConfig: parsed.TLSConfig,

		// It takes more than a command, and many may connect at once.
		DialTimeout:   5 * timeout,
		ReadTimeout:   timeout,
		WriteTimeout:  timeout,
		PoolTimeout:   timeout,
		MaxRetries:    -1,
		DialerRetries: 1,

		PoolSize: connections,
		// As many failed dials as PoolSize start a goroutine that outlives Close.
		// The first failure closes the client, long before so many.
		MaxConcurrentDials: 4,

		// Nothing that is not needed to run a script.
		Protocol:         2,
		DisableIdentity:  true,
		PipelinePoolSize: -1,
	}}
	r.options.Dialer = limitReplies(redis.NewDialer(&r.options))
	r.client = redis.NewClient(&r.options)
	r.ping()
	return r, nil
}

// cut tells if an URL that can be read has a password in it with a character that
// ends it too early, so that the rest of the password is taken for something else.
func splitsPassword(address string) bool {
	u, err := url.Parse(address)
	return err != nil || strings.Contains(address, "#") || strings.Contains(u.RawQuery, "@") ||
		u.Scheme == "unix" && u.Host != ""
}

// Watch asks Redis every second until the context ends, so that Up is right when
// there are no requests. The caller runs it.
func (r *Redis) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(r.pause): // after which one that is down may be asked
			r.ping()
		}
	}
}

func (r *Redis) ping() {
	r.do(func(client *redis.Client) error { return client.Ping(context.Background()).Err() })
}

// do asks Redis, and tells if it answered. It does not when it is to be left
// alone, or when so many ask that it would take too long.
func (r *Redis) do(ask func(*redis.Client) error) bool {
	tired := time.NewTimer(redisTimeout)
	defer tired.Stop()
	select {
	case r.slots <- struct{}{}:
	case <-tired.C:
		return false
	}
	defer func() { <-r.slots }()
	client := r.acquire()
	if client == nil {
		return false
	}
	err := ask(client)
	r.report(client, err)
	return err == nil
}

// Up tells if Redis answered when it was last asked.
func (r *Redis) Up() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.down
}

// Close ends the connection. Limits are counted by this process alone then.
func (r *Redis) Close() error {
	r.mu.Lock()
	r.closed = true
	client := r.client
	r.mu.Unlock()
	return client.Close()
}

// ask returns the client to ask Redis with, nil if it is to be left alone. How
// that went must be told to answered.
func (r *Redis) acquire() *redis.Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	if r.down {
		if r.probing || time.Now().Before(r.retryAt) {
			return nil
		}
		r.probing = true
	}
	return r.client
}

// answered takes note of how asking with a client went.
func (r *Redis) report(client *redis.Client, err error) {
	r.mu.Lock()
	if r.closed || client != r.client { // or it is news of a failure that is known
		r.mu.Unlock()
		return
	}
	if errors.Is(err, redis.ErrPoolTimeout) { // Redis was not asked
		r.probing = false
		r.mu.Unlock()
		return
	}
	change := r.down != (err != nil)
	r.down, r.probing = err != nil, false
	if err != nil {
		// Its other connections are likely to be dead too, and each would cost
		// a timeout to find out.
		r.client = redis.NewClient(&r.options)
		r.retryAt = time.Now().Add(r.pause)
	}
	r.mu.Unlock()
	if err != nil {
		_ = client.Close()
	}
	switch {
	case change && err != nil:
		r.logger.Warn("Redis does not answer: until it does, each process limits its own requests", "error", err)
	case change:
		r.logger.Info("Redis answers again: requests are limited for all processes")
	}
}
