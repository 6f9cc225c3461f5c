package ratelimit

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// Client sends the commands that this program needs. It hides the type of the library,
// which has hundreds of methods: the compiler would read them again for each package
// that imports this one.
type Client interface {
	// Get returns a value, or nil if there is none.
	Get(ctx context.Context, key string) ([]byte, error)
	// Set sets a value, which stays.
	Set(ctx context.Context, key string, value []byte) error

	// take runs the script of this package.
	take(ctx context.Context, key string, args ...any) ([]int64, error)
	ping(ctx context.Context) error
	close() error
}

// errPoolTimeout means that a command was not sent: no connection was free.
var errPoolTimeout = redis.ErrPoolTimeout

var script = redis.NewScript(source)

type client struct{ redis *redis.Client }

func (c client) Get(ctx context.Context, key string) ([]byte, error) {
	value, err := c.redis.Get(ctx, key).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return value, err
}

func (c client) Set(ctx context.Context, key string, value []byte) error {
	return c.redis.Set(ctx, key, value, 0).Err()
}

func (c client) take(ctx context.Context, key string, args ...any) ([]int64, error) {
	return script.Run(ctx, c.redis, []string{key}, args...).Int64Slice()
}

func (c client) ping(ctx context.Context) error { return c.redis.Ping(ctx).Err() }

func (c client) close() error { return c.redis.Close() }
