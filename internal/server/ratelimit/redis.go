package ratelimit

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// timeout bounds each step of a Redis command.
	timeout = 100 * time.Millisecond
	// pause is the time between a failure of Redis and the next attempt.
	pause = time.Second
	// redisTimeout is how long a request waits for a free connection.
	redisTimeout = time.Second
	// connections is the maximum number of concurrent commands.
	connections = 32
)

// Redis is a connection to a Redis server that may fail. After a failure it is not
// used for a while; then a single request probes it.
type Redis struct {
	newClient func() *Client
	pause     time.Duration
	logger    *slog.Logger
	slots     chan struct{} // one element for each running command

	mu      sync.Mutex
	client  *Client   // guarded by mu; replaced after each failure
	down    bool      // guarded by mu
	retryAt time.Time // guarded by mu; no attempt before it while down
	probing bool      // guarded by mu; a request is probing
	closed  bool      // guarded by mu
}

// OpenRedis returns a connection for a redis://, rediss:// or unix:// URL. The server
// need not be up. Timeouts in the URL are ignored, because requests wait for Redis.
func OpenRedis(text string, logger *slog.Logger) (*Redis, error) {
	return open(text, logger, timeout, pause)
}

func open(text string, logger *slog.Logger, timeout, pause time.Duration) (*Redis, error) {
	at, err := parseURL(text)
	if err != nil {
		return nil, err
	}
	r := &Redis{
		newClient: func() *Client { return newClient(at, timeout) },
		pause:     pause,
		logger:    logger,
		slots:     make(chan struct{}, connections),
	}
	r.client = r.newClient()
	r.ping()
	return r, nil
}

// Run pings Redis every second until the context ends, so that Up is current without
// requests.
func (r *Redis) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(r.pause): // one that is down may be probed again
			r.ping()
		}
	}
}

func (r *Redis) ping() {
	r.Do(func(c *Client) error { return c.ping(context.Background()) })
}

// Do runs a command and reports whether Redis answered. It returns false at once
// while Redis is down, and after redisTimeout without a free connection.
func (r *Redis) Do(ask func(*Client) error) bool {
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

// Up reports whether the last command was answered.
func (r *Redis) Up() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.down
}

// Close closes the connection. Limits are then counted by this process alone.
func (r *Redis) Close() error {
	r.mu.Lock()
	r.closed = true
	client := r.client
	r.mu.Unlock()
	return client.close()
}

// acquire returns the client for a command, or nil while Redis is down. The caller
// passes the result to report.
func (r *Redis) acquire() *Client {
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

// report records the result of a command.
func (r *Redis) report(client *Client, err error) {
	r.mu.Lock()
	if r.closed || client != r.client { // or of an old client, whose failure is known
		r.mu.Unlock()
		return
	}
	change := r.down != (err != nil)
	r.down, r.probing = err != nil, false
	if err != nil {
		// Other connections of the client are probably broken too, and each would
		// cost a timeout.
		r.client = r.newClient()
		r.retryAt = time.Now().Add(r.pause)
	}
	r.mu.Unlock()
	if err != nil {
		_ = client.close()
	}
	switch {
	case change && err != nil:
		r.logger.Warn("Redis does not answer: until it does, each process limits its own requests", "err", err)
	case change:
		r.logger.Info("Redis answers again: requests are limited for all processes")
	}
}
