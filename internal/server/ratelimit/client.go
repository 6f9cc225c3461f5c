package ratelimit

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/gomodule/redigo/redis"
)

var script = redis.NewScript(1, source)

// Client sends the commands that this program needs, on a pool of connections.
type Client struct{ pool *redis.Pool }

// newClient returns a client, which connects when it is used. The timeout bounds each
// step of a command. Dialing takes longer than a command, and many may dial at once.
func newClient(at address, timeout time.Duration) *Client {
	dial := func(ctx context.Context) (redis.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, 5*timeout)
		defer cancel()
		return redis.DialContext(ctx, at.network, at.host,
			redis.DialContextFunc(at.dial),
			redis.DialUsername(at.username),
			redis.DialPassword(at.password),
			redis.DialDatabase(at.database),
			redis.DialReadTimeout(timeout),
			redis.DialWriteTimeout(timeout),
		)
	}
	return &Client{&redis.Pool{
		DialContext: dial,
		MaxIdle:     connections,
	}}
}

// dial opens a connection whose replies are limited.
func (a address) dial(ctx context.Context, network, host string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, host)
	if err != nil {
		return nil, err
	}
	limited := &limitedConn{Conn: conn, raw: conn, left: maxReply}
	if a.tls == nil {
		return limited, nil
	}
	secure := tls.Client(conn, a.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	limited.Conn = secure
	return limited, nil
}

// do calls a function with a connection. Redis may have closed those of the pool, when
// it was restarted for example. That is noticed before a command is sent, so that it is
// sent on another connection.
func (c *Client) do(ctx context.Context, ask func(redis.Conn) error) error {
	var err error
	for range connections + 1 {
		err = c.once(ctx, ask)
		if !errors.Is(err, errClosed) {
			break
		}
	}
	return err
}

func (c *Client) once(ctx context.Context, ask func(redis.Conn) error) error {
	if err := ctx.Err(); err != nil { // a connection of the pool ignores it
		return err
	}
	conn, err := c.pool.GetContext(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // which returns it to the pool
	return ask(conn)
}

// Get returns a value, or nil if there is none.
func (c *Client) Get(ctx context.Context, key string) (value []byte, err error) {
	err = c.do(ctx, func(conn redis.Conn) (err error) {
		value, err = redis.Bytes(conn.Do("GET", key))
		if errors.Is(err, redis.ErrNil) {
			err = nil
		}
		return err
	})
	return value, err
}

// Set sets a value, which stays.
func (c *Client) Set(ctx context.Context, key string, value []byte) error {
	return c.do(ctx, func(conn redis.Conn) error {
		_, err := conn.Do("SET", key, value)
		return err
	})
}

// take runs the script of this package.
func (c *Client) take(ctx context.Context, key string, args ...any) (numbers []int64, err error) {
	err = c.do(ctx, func(conn redis.Conn) (err error) {
		numbers, err = redis.Int64s(script.Do(conn, append([]any{key}, args...)...))
		return err
	})
	return numbers, err
}

func (c *Client) ping(ctx context.Context) error {
	return c.do(ctx, func(conn redis.Conn) error {
		_, err := conn.Do("PING")
		return err
	})
}

func (c *Client) close() error { return c.pool.Close() }
