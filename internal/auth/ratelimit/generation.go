package ratelimit

import "time"

// generation holds logs, without a pointer to or in any of them: with a million
// subjects that is the difference between six and a hundred milliseconds of
// garbage collection.
type generation struct {
	logs      map[Subject]log
	chunks    []*[chunkLen]block // never moved: a slice of a million blocks is slow to grow
	allocated int32              // blocks of the chunks that were used
	freed     int32              // the first of the blocks given back, none if 0
}

// log is when the requests of a subject were let in, the oldest first: a chain
// of blocks, which grows with them.
type log struct {
	first, last int32 // blocks, numbered from 1
	start       int32 // where the oldest is in the first block
	n           int32 // how many there are
}

// block is a part of a log: a line of the processor's cache.
type block struct {
	times      [blockLen]time.Duration
	next, prev int32
}

const (
	blockLen = 7
	chunkLen = 512
)

func newGeneration() *generation { return &generation{logs: map[Subject]log{}} }

func (g *generation) block(number int32) *block {
	return &g.chunks[(number-1)/chunkLen][(number-1)%chunkLen]
}

// oldest returns the first time of a log that has one.
func (g *generation) oldest(l log) time.Duration { return g.block(l.first).times[l.start] }

// push adds a time at the end of a log.
func (g *generation) push(l log, t time.Duration) log {
	at := (l.start + l.n) % blockLen
	switch {
	case l.n == 0:
		b := g.alloc()
		l = log{first: b, last: b}
		at = 0
	case at == 0:
		b := g.alloc()
		g.block(l.last).next, g.block(b).prev = b, l.last
		l.last = b
	}
	g.block(l.last).times[at] = t
	l.n++
	return l
}

// pop removes the first time of a log that has one.
func (g *generation) pop(l log) log {
	l.start++
	l.n--
	if l.n > 0 && l.start < blockLen {
		return l
	}
	next := g.block(l.first).next
	g.free(l.first)
	if l.n == 0 {
		return log{}
	}
	l.first, l.start = next, 0
	return l
}

// remove takes a time out of a log, unless it is out of it already because it
// was the oldest. It looks from the end, where a time is that is not old.
func (g *generation) remove(l log, t time.Duration) log {
	if l.n == 0 || g.oldest(l) > t {
		return l
	}
	end := (l.start + l.n - 1) % blockLen
	var later time.Duration // those after it move one place to the front
	for number, at := l.last, end; ; at-- {
		if at < 0 {
			number, at = g.block(number).prev, blockLen-1
		}
		b := g.block(number)
		b.times[at], later = later, b.times[at]
		if later <= t {
			break
		}
	}
	l.n--
	switch {
	case l.n == 0:
		g.free(l.first)
		return log{}
	case end == 0:
		prev := g.block(l.last).prev
		g.free(l.last)
		l.last = prev
	}
	return l
}

// give takes a block back that is in no log any more.
func (g *generation) free(number int32) {
	g.block(number).next, g.freed = g.freed, number
}

// take returns a block that is in no log.
func (g *generation) alloc() int32 {
	if b := g.freed; b != 0 {
		g.freed = g.block(b).next
		return b
	}
	if int(g.allocated) == len(g.chunks)*chunkLen {
		g.chunks = append(g.chunks, new([chunkLen]block))
	}
	g.allocated++
	return g.allocated
}

// copy returns a log of another generation as one of this.
func (g *generation) copy(from *generation, l log) log {
	var mine log
	for ; l.n > 0; l = from.pop(l) {
		mine = g.push(mine, from.oldest(l))
	}
	return mine
}

// keep remembers the log of a subject, unless it is empty.
func (g *generation) set(s Subject, l log) {
	if l.n == 0 {
		delete(g.logs, s)
	} else {
		g.logs[s] = l
	}
}
