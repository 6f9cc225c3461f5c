package highwater

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"pregon/internal/server/ratelimit"
)

var errRedisDown = errors.New("Redis does not answer")

// Redis is a place in Redis, shared by all processes.
type Redis struct {
	Conn *ratelimit.Redis
	Key  string
}

// String returns the key.
func (r Redis) String() string { return "redis:" + r.Key }

// Load implements Place.
func (r Redis) Load(ctx context.Context) (text []byte, err error) {
	ok := r.Conn.Do(func(client *redis.Client) error {
		found, err := client.Get(ctx, r.Key).Bytes()
		if errors.Is(err, redis.Nil) {
			return nil
		}
		text = found
		return err
	})
	if !ok {
		return nil, errRedisDown
	}
	return text, nil
}

// Save implements Place.
func (r Redis) Save(ctx context.Context, text []byte) error {
	if !r.Conn.Do(func(client *redis.Client) error { return client.Set(ctx, r.Key, text, 0).Err() }) {
		return errRedisDown
	}
	return nil
}
