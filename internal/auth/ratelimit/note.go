package ratelimit

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

var errAway = errors.New("Redis does not answer")

// Note is a text in Redis that all processes share.
type Note struct {
	redis *Redis
	key   string
}

// Note returns the text under a key.
func (r *Redis) Note(key string) Note { return Note{r, key} }

// String names the text in logs.
func (n Note) String() string { return "redis:" + n.key }

// Load returns the text, nothing when there is none.
func (n Note) Load(ctx context.Context) (text []byte, err error) {
	ok := n.redis.do(func(client *redis.Client) error {
		found, err := client.Get(ctx, n.key).Bytes()
		if errors.Is(err, redis.Nil) {
			return nil
		}
		text = found
		return err
	})
	if !ok {
		return nil, errAway
	}
	return text, nil
}

// Save writes the text.
func (n Note) Save(ctx context.Context, text []byte) error {
	if !n.redis.do(func(client *redis.Client) error { return client.Set(ctx, n.key, text, 0).Err() }) {
		return errAway
	}
	return nil
}
