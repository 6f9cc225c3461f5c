// Package archive holds the reports of the simulated regulator.
//
// The past is the deterministic history of the market, up to the time at which the
// archive was first opened. The reports published after that are stored in a file,
// one JSON line each, before they are served, so that a restart continues with the
// same market.
package archive

import (
	"sync"
	"time"

	"pregon/internal/sim/market"
)

// Archive holds all reports. It is safe for concurrent use.
type Archive struct {
	Directory *Directory

	market  *market.Market
	seed    uint64
	now     func() time.Time
	history *history

	mu   sync.RWMutex // guards file and live
	file *file
	live live
}

// Open opens the archive of a market and reads the reports published before. It
// locks the file, because two processes must not publish into one market. An empty
// path keeps the reports in memory only.
func Open(m *market.Market, seed uint64, path string, now func() time.Time) (*Archive, error) {
	f, published, err := openFile(path, header{Seed: seed, Began: now().UTC().Truncate(time.Second)})
	if err != nil {
		return nil, err
	}
	a := &Archive{Directory: newDirectory(m), market: m, seed: seed, now: now, file: f}
	a.history = newHistory(m, a.Directory, seed, f.Began)
	a.live = newLive(a.history.numbers())
	for n := range published {
		published[n].Issuer = a.Directory.of(&published[n].Report)
		a.live.add(&published[n])
	}
	return a, nil
}

// Began returns the time at which the history ends.
func (a *Archive) Began() time.Time { return a.file.Began }

// Close closes the file and releases its lock.
func (a *Archive) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.file.close()
}

// Publish adds a report. It is in the file before it is served.
func (a *Archive) Publish(d Draft) (*Report, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, err := a.compose(d)
	if err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if err := a.file.append(r); err != nil {
		return nil, err
	}
	a.live.add(r)
	return r, nil
}
