package ratelimit

import "time"

// generation holds logs without pointers. With a million subjects a garbage
// collection then takes 6 ms instead of 100 ms.
type generation struct {
	logs      map[Subject]log
	chunks    []*[chunkLen]block // not one slice: growing it would copy all blocks
	allocated int32              // number of used blocks in chunks
	freed     int32              // first free block; 0 for none
}

// log holds the times of a subject's allowed requests, oldest first, as a chain of
// blocks.
type log struct {
	first, last int32 // blocks, numbered from 1
	start       int32 // index of the oldest time in the first block
	n           int32 // number of times
}

// block is a part of a log, of the size of a cache line.
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

// oldest returns the first time of a log that is not empty.
func (g *generation) oldest(l log) time.Duration { return g.block(l.first).times[l.start] }

// push appends a time to a log.
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

// pop removes the first time of a log that is not empty.
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

// remove deletes a time from a log, if it has not expired. It searches from the end,
// where recent times are.
func (g *generation) remove(l log, t time.Duration) log {
	if l.n == 0 || g.oldest(l) > t {
		return l
	}
	end := (l.start + l.n - 1) % blockLen
	var later time.Duration // later times move forward by one
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

// free returns a block to the free list.
func (g *generation) free(number int32) {
	g.block(number).next, g.freed = g.freed, number
}

// alloc returns a free block.
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

// copy copies a log from another generation.
func (g *generation) copy(from *generation, l log) log {
	var mine log
	for ; l.n > 0; l = from.pop(l) {
		mine = g.push(mine, from.oldest(l))
	}
	return mine
}

// set stores the log of a subject, or removes an empty one.
func (g *generation) set(s Subject, l log) {
	if l.n == 0 {
		delete(g.logs, s)
	} else {
		g.logs[s] = l
	}
}
