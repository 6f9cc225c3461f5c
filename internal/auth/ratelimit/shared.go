package ratelimit

import (
	"context"
	_ "embed"
	"encoding/hex"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed take.lua
var source string

var script = redis.NewScript(source)

// Shared is a limit counted in Redis for all processes, and in this process for
// what it let in itself. The latter holds when Redis is away or has forgotten,
// so that nobody starts afresh then.
type Shared struct {
	redis  *Redis
	policy Policy
	local  *Window
}

// Shared returns the limit of a policy. It panics if the policy is not one.
func (r *Redis) Shared(p Policy) *Shared {
	return &Shared{redis: r, policy: p, local: NewWindow(p)}
}

// Take lets a request in or not. The end of the context changes nothing: Redis
// may have counted the request already.
//
// This process counts it first, so that it cannot refuse what Redis counted, and
// so that no more than the limit ask Redis at once, however many come.
func (s *Shared) Take(ctx context.Context, of Subject) Decision {
	// What this process let in is a part of what all did: no need to ask.
	local, counted := s.local.decide(of, true)
	if !local.OK {
		return local
	}
	v, ok := s.query(ctx, of, true)
	switch {
	case !ok:
		return local
	case !v.OK:
		s.local.refund(counted)
		return v
	}
	return stricter(v, local)
}

// Look returns what Take would say.
func (s *Shared) Peek(ctx context.Context, of Subject) Decision {
	local := s.local.Peek(ctx, of)
	if !local.OK {
		return local
	}
	v, ok := s.query(ctx, of, false)
	if !ok {
		return local
	}
	return stricter(v, local)
}

// Len returns how many subjects this process remembers.
func (s *Shared) Len() int { return s.local.Len() }

// stricter joins two verdicts on a request: both must let it in, and the one
// that lets fewer in after it returns how many and when.
func stricter(a, b Decision) Decision {
	v := a
	if b.Remaining < a.Remaining || b.Remaining == a.Remaining && b.Reset > a.Reset {
		v = b
	}
	v.OK = a.OK && b.OK
	return v
}

// ask returns what Redis says, if it says anything.
func (s *Shared) query(ctx context.Context, of Subject, count bool) (v Decision, ok bool) {
	key := "pregon:limit:" + s.policy.Name + ":" + hex.EncodeToString(of[:])
	window := (s.policy.Window + time.Microsecond - 1) / time.Microsecond
	// Whoever made the request may be gone any moment, which is no failure of
	// Redis: its own timeouts are short enough.
	ctx = context.WithoutCancel(ctx)
	var answer []int64
	ok = s.redis.do(func(client *redis.Client) (err error) {
		answer, err = script.Run(ctx, client, []string{key}, int64(window), s.policy.Limit, count).Int64Slice()
		if err == nil && len(answer) != 3 {
			err = errors.New("the script does not answer with three numbers")
		}
		return err
	})
	if !ok {
		return Decision{}, false
	}
	return Decision{
		OK:        answer[0] == 1,
		Remaining: int(answer[1]),
		Reset:     time.Duration(answer[2]) * time.Microsecond,
	}, true
}
