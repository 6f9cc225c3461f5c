package main_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"pregon/internal/test/waittest"
)

// ask sends a request and returns the status and body of the answer. It does not wait
// long for a process that hangs.
func ask(ctx context.Context, base, key, path, accept string) (int, string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("X-API-Key", key)
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

// loads are the requests of the mixed load. Each returns the status of the answer. id is
// that of a report that exists.
var loads = map[string]func(ctx context.Context, s *soakRun, base, id string) (int, error){
	"list": func(ctx context.Context, s *soakRun, base, _ string) (int, error) {
		return call(ctx, base, s.key, http.MethodGet, fmt.Sprintf("/api/v1/reports?limit=20&page=%d", 1+rand.IntN(5)), nil, nil)
	},
	"search": func(ctx context.Context, s *soakRun, base, _ string) (int, error) {
		words := []string{"dividendo", "junta general", "resultados", "aceros", "-fondo banco"}
		return call(ctx, base, s.key, http.MethodGet, "/api/v1/reports?search="+url.QueryEscape(words[rand.IntN(len(words))]), nil, nil)
	},
	"report": func(ctx context.Context, s *soakRun, base, id string) (int, error) {
		return call(ctx, base, s.key, http.MethodGet, "/api/v1/reports/"+id, nil, nil)
	},
	"positions": func(ctx context.Context, s *soakRun, base, _ string) (int, error) {
		paths := []string{
			"/shorts?current=true", "/shorts/totals", "/dealings?side=buy&min_amount=1000", "/dealings.csv?limit=100",
			"/holdings?current=true", "/own-shares", "/completeness",
		}
		return call(ctx, base, s.key, http.MethodGet, "/api/v1"+paths[rand.IntN(len(paths))], nil, nil)
	},
	"page": func(ctx context.Context, s *soakRun, base, id string) (int, error) {
		status, _, err := ask(ctx, base, s.key, []string{"/", "/reports/" + id, "/feed.atom", "/status"}[rand.IntN(4)], "text/html, */*;q=0.5")
		return status, err
	},
	"MCP": func(ctx context.Context, s *soakRun, base, id string) (int, error) {
		return call(ctx, base, s.key, http.MethodPost, "/api/mcp", map[string]any{
			"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "get_report", "arguments": map[string]string{"id": id}},
		}, nil)
	},
}

// load sends requests of all kinds until the context ends. A request that fails is sent
// to the next replica, as a load balancer would.
func (s *soakRun) load(ctx context.Context) {
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() {
			for ctx.Err() == nil {
				for kind, send := range loads {
					s.request(ctx, kind, send)
					waittest.Pace(ctx, 30*time.Millisecond)
				}
			}
		})
	}
	clients.Wait()
}

func (s *soakRun) request(ctx context.Context, kind string, send func(context.Context, *soakRun, string, string) (int, error)) {
	ids := s.known
	first := rand.IntN(len(s.fleet.sights))
	for try := range s.fleet.sights {
		began := time.Now()
		asking, end := context.WithTimeout(ctx, 10*time.Second)
		status, err := send(asking, s, s.fleet.at((first+try)%len(s.fleet.sights)).url, ids[rand.IntN(len(ids))])
		end()
		if ctx.Err() != nil {
			return
		}
		if s.result.answered(kind, status, err, time.Since(began)) {
			return
		}
	}
	s.result.gaveUp(kind)
}
