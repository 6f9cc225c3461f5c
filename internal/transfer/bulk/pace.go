package bulk

import (
	"context"
	"io"
	"time"

	"pregon/internal/retry"
)

// A snapshot is made in slices of work, with a rest after each of them. Requests may
// have to wait for a slice if all processors are busy, so it is short.
const (
	slice = time.Millisecond
	// The rests are so many times as long as the work before them: a snapshot takes half
	// a processor at most, and a sixteenth of one while requests are served.
	idleRest = 1
	busyRest = 15
	// busyTime is how long after a request the service counts as busy.
	busyTime = time.Second
	// longest bounds one rest, after work that was long because the machine is busy.
	longest = 500 * time.Millisecond
	// maxRest bounds the rests of one snapshot because of requests.
	maxRest = 30 * time.Minute
)

// pace divides the work on a snapshot into slices. It is used by one goroutine.
type pace struct {
	ctx      context.Context
	requests func() int64 // see Maker.Requests; nil for none
	began    time.Time    // of the slice
	seen     int64        // requests
	busyTill time.Time
	rested   time.Duration // because of requests
}

func newPace(ctx context.Context, requests func() int64) *pace {
	p := &pace{ctx: ctx, requests: requests}
	if requests != nil {
		p.seen = requests()
	}
	p.began = time.Now()
	return p
}

// step rests if a slice of work is done. It fails when the context ends.
func (p *pace) step() error {
	now := time.Now()
	worked := now.Sub(p.began)
	if worked < slice {
		return p.ctx.Err()
	}
	err := retry.Sleep(p.ctx, p.rest(now, worked))
	p.began = time.Now()
	return err
}

// rest returns how long to rest after some work.
func (p *pace) rest(now time.Time, worked time.Duration) time.Duration {
	if p.requests != nil {
		if n := p.requests(); n != p.seen {
			p.seen = n
			p.busyTill = now.Add(busyTime)
		}
	}
	if !now.Before(p.busyTill) || p.rested >= maxRest {
		return min(idleRest*worked, longest)
	}
	rest := min(busyRest*worked, longest)
	p.rested += rest
	return rest
}

// steps is a transfer.Step.
func (p *pace) steps(int) error { return p.step() }

// pacedWriter rests between writes: a part of a file may be much work, such as the pages
// of a row group.
type pacedWriter struct {
	io.Writer
	pace *pace
}

func (w pacedWriter) Write(b []byte) (int, error) {
	if err := w.pace.step(); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
}
