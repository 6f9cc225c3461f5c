package highwater

import (
	"context"
	"errors"

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
	ok := r.Conn.Do(func(client *ratelimit.Client) (err error) {
		text, err = client.Get(ctx, r.Key)
		return err
	})
	if !ok {
		return nil, errRedisDown
	}
	return text, nil
}

// Save implements Place.
func (r Redis) Save(ctx context.Context, text []byte) error {
	if !r.Conn.Do(func(client *ratelimit.Client) error { return client.Set(ctx, r.Key, text) }) {
		return errRedisDown
	}
	return nil
}
