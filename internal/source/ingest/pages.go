package ingest

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// pageReaders is the number of pages that are read at once, so that a slow one
// does not delay the others. The throttle keeps the requests apart.
const pageReaders = 4

// pages reads the pages of new reports, for what the feed and the list lack.
type pages struct {
	*writer
	gates map[disclosure.Type]*retry.Gate // closed while pages have an unknown form

	crowding sync.Mutex                         // held while a list is read in place of many pages
	listed   map[disclosure.Type]map[int64]bool // guarded by crowding: numbers for which a list was read

	mu        sync.Mutex
	noSeconds map[string]time.Time // guarded by mu: reports whose page has no seconds, with their time of publication
}

func newPages(w *writer) *pages {
	p := &pages{
		writer:    w,
		gates:     map[disclosure.Type]*retry.Gate{},
		listed:    map[disclosure.Type]map[int64]bool{},
		noSeconds: map[string]time.Time{},
	}
	for _, t := range disclosure.Types {
		p.gates[t], p.listed[t] = &retry.Gate{}, map[int64]bool{}
	}
	return p
}

// run reads the pages of queued reports until the context ends.
func (p *pages) run(ctx context.Context) error {
	return p.queue.Run(ctx, func(id string, tries int) time.Duration {
		t, _, _ := disclosure.ParseReportID(id)
		if wait := p.gates[t].Wait(); wait > 0 {
			return wait
		}
		if p.read(ctx, id) != nil {
			return p.pageBackoff(tries)
		}
		return 0
	})
}

// pageBackoff returns the wait before a page is read again: half a second at
// first, and at most ten times the longest wait of other retries.
func (t *term) pageBackoff(tries int) time.Duration {
	return retry.Backoff(tries, 500*time.Millisecond, 10*t.intervals.retry)
}

// read reads the page of a report unless it has nothing to add.
func (p *pages) read(ctx context.Context, id string) error {
	known, err := p.Store.Reports(ctx, id)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return nil
	}
	r, surface := known[0], health.Permalink(known[0].Type)
	if !needsPage(&r) && !p.monitor.Failing(surface) { // while pages fail, any report shows whether they recover
		return nil
	}
	if r.EnrichedAt.IsZero() && p.readAmongMany(ctx, &r) {
		return errors.New("its row in the list was read") // its next turn checks whether that was enough
	}
	start := time.Now()
	row, err := p.Regulator.For(throttle.Permalinks).Permalink(ctx, r.Type, r.Number)
	switch {
	case err == nil || fault.KindOf(err) == fault.NotFound:
		p.gates[r.Type].OK()
	case regulator.IsMarkup(err):
		p.gates[r.Type].Fail(id, p.pageBackoff)
	}
	if p.recordRead(ctx, surface, start, err) != nil {
		if fault.KindOf(err) == fault.NotFound && time.Since(r.FirstSeenAt) > time.Hour {
			p.Logger.Warn("the page of a report does not exist: the report stays as in the feed", "report", id)
			p.monitor.OK(surface) // it answers
			return nil
		}
		return err
	}
	if row.Surface == disclosure.FromList {
		p.mu.Lock()
		p.noSeconds[id] = r.PublishedAt
		p.mu.Unlock()
	}
	return p.takePage(ctx, row)
}

// crowd is the number of reports that must be queued for a page of the list to be
// read in place of their pages. The list shows ten reports with one request.
const crowd = 4

// readAmongMany reads the page of today's list that should show a report and its
// neighbours, if enough reports are queued and no other goroutine does so. It
// reports whether the report's own page may wait.
func (p *pages) readAmongMany(ctx context.Context, r *disclosure.Report) bool {
	newest := p.series[r.Type].newest.Load()
	page := int((newest - r.Number) / pageSize)
	listed := newest >= r.Number && page < crowd
	unreadable := r.Type == disclosure.HR && p.monitor.Failing(health.List(r.Type))
	if p.queue.Len() < crowd || !listed || unreadable || !p.crowding.TryLock() {
		return false
	}
	defer p.crowding.Unlock()
	if p.listed[r.Type][r.Number] {
		return false // the list did not show it
	}
	p.markListed(r.Type, r.Number, newest)
	start := time.Now()
	list, err := p.pageOfToday(ctx, r.Type, page)
	if p.recordRead(ctx, health.List(r.Type), start, err) != nil && len(list.Rows) == 0 {
		return false
	}
	_, err = p.takeList(ctx, r.Type, list.Rows, list.Received, news)
	return err == nil
}

// markListed adds a number to listed, and removes those that are too old to be
// read in a list. p.crowding is held.
func (p *pages) markListed(t disclosure.Type, number, newest int64) {
	maps.DeleteFunc(p.listed[t], func(n int64, _ bool) bool { return n <= newest-crowd*pageSize })
	p.listed[t][number] = true
}

// pageOfToday reads a page of a series' newest reports. Of HR there is only one,
// which is longer.
func (p *pages) pageOfToday(ctx context.Context, t disclosure.Type, page int) (regulator.List, error) {
	client := p.Regulator.For(throttle.Permalinks)
	if t == disclosure.HR {
		return client.LatestHR(ctx, regulator.HRFunds)
	}
	today := disclosure.DayOf(time.Now())
	return client.List(ctx, t, today, today, page)
}

// needsPage reports whether a report's page has something to add: the feed lacks
// the NIF, and the list lacks the seconds. History needs no seconds.
func needsPage(r *disclosure.Report) bool {
	byFeed := r.EnrichedAt.IsZero() && r.TimeFrom != "" // an imported report has no TimeFrom
	return byFeed || r.TimeFrom == disclosure.FromList && !r.Backfilled
}

// find queues reports of the last week whose page an earlier process did not
// read.
func (p *pages) find(ctx context.Context) error {
	const reach = 7 * 24 * time.Hour
	for {
		since := time.Now().Add(-reach)
		for _, r := range p.Recent.Since(since) {
			if needsPage(&r) && !p.lacksSeconds(r.ID) {
				p.queue.Add(r.ID)
			}
		}
		p.forgetBefore(since)
		if err := retry.Sleep(ctx, p.intervals.incomplete); err != nil {
			return err
		}
	}
}

// lacksSeconds reports whether the page of a report was read and has no seconds.
func (p *pages) lacksSeconds(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, lacks := p.noSeconds[id]
	return lacks
}

// forgetBefore removes reports from noSeconds that find no longer considers.
func (p *pages) forgetBefore(since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.noSeconds, func(_ string, published time.Time) bool { return published.Before(since) })
}
