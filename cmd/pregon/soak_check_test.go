package main_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
)

func yesterday() string { return (disclosure.DayOf(time.Now()) - 1).String() }

// tally compares how often a surface has each report with the published ones. It
// records the result and returns an error unless each is there once, and no other.
func (s *soakRun) tally(surface string, filed map[string]apiReport, counts map[string]int) error {
	var lost, doubled []string
	for id := range filed {
		switch n := counts[id]; {
		case n == 0:
			lost = append(lost, id)
		case n > 1:
			doubled = append(doubled, id)
		}
	}
	s.result.tallied(surface, len(filed), len(lost), len(doubled))
	if len(lost)+len(doubled) > 0 {
		return fmt.Errorf("%s: of %d reports, lost %d: %.10q; more than once %d: %.10q", surface, len(filed), len(lost), some(lost), len(doubled), some(doubled))
	}
	for id := range counts {
		_, published := filed[id]
		if _, old := s.before[id]; !published && !old && !strings.HasPrefix(id, "hr-") {
			return fmt.Errorf("%s has %s, which was not published", surface, id)
		}
	}
	return nil
}

// some returns a few of the ids.
func some(ids []string) []string {
	slices.Sort(ids)
	return ids[:min(len(ids), 10)]
}

// walks are the surfaces that list reports page by page: each returns the ids of a page
// of the reports since yesterday, and none after the last page.
var walks = map[string]func(ctx context.Context, base, key string, page int) ([]string, error){
	"REST list": func(_ context.Context, base, _ string, page int) (ids []string, err error) {
		var list struct{ Data []struct{ ID string } }
		_, err = fetch(base, fmt.Sprintf("/api/v1/reports?from=%s&limit=50&page=%d", yesterday(), page), &list)
		for _, r := range list.Data {
			ids = append(ids, r.ID)
		}
		return ids, err
	},
	"CSV": func(ctx context.Context, base, key string, page int) (ids []string, err error) {
		body, err := read(ctx, base, key, fmt.Sprintf("/api/v1/reports.csv?from=%s&limit=50&page=%d", yesterday(), page), "text/csv")
		if err != nil {
			return nil, err
		}
		rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		for _, row := range rows[min(1, len(rows)):] {
			ids = append(ids, row[0])
		}
		return ids, err
	},
	"site": func(ctx context.Context, base, key string, page int) ([]string, error) {
		return links(ctx, base, key, fmt.Sprintf("/?from=%s&page=%d", yesterday(), page), "text/html", rowLink)
	},
	"MCP search_reports": func(ctx context.Context, base, key string, page int) ([]string, error) {
		ids, _, err := toolSearch(ctx, base, key, page)
		return ids, err
	},
}

var (
	rowLink = regexp.MustCompile(`data-id="([a-z]+-\d+)"`)
	atomID  = regexp.MustCompile(`<id>[^<]*/reports/([a-z]+-\d+)</id>`)
	jsonID  = regexp.MustCompile(`"id":"[^"]*/reports/([a-z]+-\d+)"`)
)

func links(ctx context.Context, base, key, path, accept string, id *regexp.Regexp) (ids []string, err error) {
	body, err := read(ctx, base, key, path, accept)
	for _, m := range id.FindAllStringSubmatch(body, -1) {
		ids = append(ids, m[1])
	}
	return ids, err
}

// read returns the body of an answer with status 200.
func read(ctx context.Context, base, key, path, accept string) (string, error) {
	status, body, err := ask(ctx, base, key, path, accept)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s is answered with %d: %.200s", path, status, body)
	}
	return body, err
}

// pulled reads all surfaces of all replicas, and returns an error unless each has every
// report once.
func (s *soakRun) pulled(filed map[string]apiReport) error {
	var all []error
	for i := range s.fleet.sights {
		base := s.fleet.at(i).url
		for surface, page := range walks {
			counts, err := walk(s.Context(), base, s.key, page)
			if err != nil {
				return fmt.Errorf("%s of replica %d: %w", surface, i, err)
			}
			all = append(all, s.tally(surface, filed, counts))
		}
		all = append(all, s.feeds(base))
		w := &witness{}
		if err := s.changes(base, w); err != nil {
			return err
		}
		all = append(all, s.tally("change list", filed, w.counts()))
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	return s.each(filed)
}

// feeds returns an error unless the feeds have the newest reports, in the order of the
// list.
func (s *soakRun) feeds(base string) error {
	var newest []string
	for page := range 2 {
		ids, err := walks["REST list"](s.Context(), base, s.key, page+1)
		if err != nil {
			return err
		}
		newest = append(newest, ids...)
	}
	for path, id := range map[string]*regexp.Regexp{"/feed.atom": atomID, "/feed.json": jsonID} {
		ids, err := links(s.Context(), base, s.key, path+"?from="+yesterday(), "*/*", id)
		if err != nil {
			return err
		}
		if !slices.Equal(ids, newest) {
			return fmt.Errorf("%s has %d reports, %.10q, and the list %d, %.10q", path, len(ids), ids, len(newest), newest)
		}
	}
	return nil
}

func walk(ctx context.Context, base, key string, page func(context.Context, string, string, int) ([]string, error)) (map[string]int, error) {
	counts := map[string]int{}
	for n := 1; ; n++ {
		ids, err := page(ctx, base, key, n)
		if err != nil || len(ids) == 0 {
			return counts, err
		}
		for _, id := range ids {
			counts[id]++
		}
	}
}

// changes reads the change list without waiting.
func (s *soakRun) changes(base string, w *witness) error {
	for after := s.began; ; {
		var list struct {
			Data      []pushed
			NextAfter int64 `json:"next_after"`
		}
		status, err := call(s.Context(), base, s.key, http.MethodGet, fmt.Sprintf("/api/v1/changes?after=%d&limit=500", after), nil, &list)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("the change list is answered with %d, %v", status, err)
		}
		if list.NextAfter == after {
			return nil
		}
		w.saw(list.Data...)
		after = list.NextAfter
	}
}

// each asks for every report by its id: the report, its page, and a search for it.
func (s *soakRun) each(filed map[string]apiReport) error {
	surfaces := []string{"REST report", "search", "site page"}
	counts := map[string]map[string]int{}
	for _, name := range surfaces {
		counts[name] = map[string]int{}
	}
	var mu sync.Mutex
	var failed error
	note := func(surface, id string, n int, err error) {
		mu.Lock()
		defer mu.Unlock()
		counts[surface][id] += n
		failed = errors.Join(failed, err)
	}
	ids := make(chan string)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for id := range ids {
				s.one(id, note)
			}
		})
	}
	for id := range filed {
		ids <- id
	}
	close(ids)
	workers.Wait()
	for _, name := range surfaces {
		failed = errors.Join(failed, s.tally(name, filed, counts[name]))
	}
	return failed
}

func (s *soakRun) one(id string, note func(surface, id string, n int, err error)) {
	base := s.fleet.any()
	var report struct{ ID string }
	_, err := fetch(base, "/api/v1/reports/"+id, &report)
	note("REST report", report.ID, 1, err)
	var list struct {
		Total int
		Data  []struct{ ID string }
	}
	_, err = fetch(base, "/api/v1/reports?search="+id, &list)
	note("search", id, list.Total, err)
	_, err = read(s.Context(), base, s.key, "/reports/"+id, "text/html")
	note("site page", id, 1, err)
}
