package ratelimit

import (
	"context"
	_ "embed"
	"encoding/hex"
	"errors"
	"time"
)

//go:embed take.lua
var source string

// Shared is a limit counted in Redis for all processes, and in this process for its
// own requests. The local count applies while Redis is down or has lost its data.
type Shared struct {
	redis  *Redis
	policy Policy
	local  *Window
}

// Shared returns the limit of a policy. It panics for an invalid policy.
func (r *Redis) Shared(p Policy) *Shared {
	return &Shared{redis: r, policy: p, local: NewWindow(p)}
}

// Take implements Limiter. It ignores the end of the context, because Redis may
// already have counted the request.
//
// This process counts first. So it never refuses what Redis has counted, and no more
// requests than the limit query Redis at once.
func (s *Shared) Take(ctx context.Context, of Subject) Decision {
	// Own requests are a part of all: no query is needed.
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

// Peek implements Limiter.
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

// Len returns the number of subjects of this process.
func (s *Shared) Len() int { return s.local.Len() }

// stricter combines two decisions: both must allow the request, and the one with
// fewer remaining requests gives the numbers.
func stricter(a, b Decision) Decision {
	v := a
	if b.Remaining < a.Remaining || b.Remaining == a.Remaining && b.Reset > a.Reset {
		v = b
	}
	v.OK = a.OK && b.OK
	return v
}

// query returns the decision of Redis, if it answers.
func (s *Shared) query(ctx context.Context, of Subject, count bool) (v Decision, ok bool) {
	key := "pregon:limit:" + s.policy.Name + ":" + hex.EncodeToString(of[:])
	window := (s.policy.Window + time.Microsecond - 1) / time.Microsecond
	// The client may disconnect at any time, which is not a failure of Redis. Its
	// own timeouts are short enough.
	ctx = context.WithoutCancel(ctx)
	var answer []int64
	ok = s.redis.Do(func(c *Client) (err error) {
		answer, err = c.take(ctx, key, int64(window), s.policy.Limit, count)
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
