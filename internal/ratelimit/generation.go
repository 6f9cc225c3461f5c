package ratelimit

import "time"

// generation holds logs, without a pointer to or in any of them: with a million
// subjects that is the difference between six and a hundred milliseconds of
// garbage collection.
type generation struct {
	logs   map[Subject]log
	chunks []*[chunkLen]block // never moved: a slice of a million blocks is slow to grow
	made   int32              // blocks of the chunks that were used
	free   int32              // the first of the blocks given back, none if 0
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
	times [blockLen]time.Duration
	next  int32
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
		b := g.take()
		l = log{first: b, last: b}
		at = 0
	case at == 0:
		b := g.take()
		g.block(l.last).next = b
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
	gone := g.block(l.first)
	next := gone.next
	gone.next, g.free = g.free, l.first
	if l.n == 0 {
		return log{}
	}
	l.first, l.start = next, 0
	return l
}

// take returns a block that is in no log.
func (g *generation) take() int32 {
	if b := g.free; b != 0 {
		g.free = g.block(b).next
		return b
	}
	if int(g.made) == len(g.chunks)*chunkLen {
		g.chunks = append(g.chunks, new([chunkLen]block))
	}
	g.made++
	return g.made
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
func (g *generation) keep(s Subject, l log) {
	if l.n == 0 {
		delete(g.logs, s)
	} else {
		g.logs[s] = l
	}
}
