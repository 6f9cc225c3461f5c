package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/server/outbound"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/sqlite"
)

const (
	hooks       = 16
	hookRounds  = 3
	hookChanges = 2000 // in a round
)

// webhooks compares deliveries a second with two loops that post the same bodies, in turns:
// one by a client with the default settings of package outbound, which keeps two connections
// to a host, and one that keeps all of them, as the service does. On a machine with other
// work, the processor time of a delivery varies less than the rate.
func (b *bench) webhooks() error {
	path, err := b.scratch("push.db")
	if err != nil {
		return err
	}
	defer b.scratch("push.db")
	if err := b.migrate("sqlite:" + path); err != nil {
		return err
	}
	db, err := sqlite.Open(b.ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	inProcess := func() (time.Duration, error) { return 0, nil }
	if err := b.deliveries("sqlite", "sqlite:"+path, db, inProcess); err != nil {
		return err
	}
	return b.webhooksOnPostgres()
}

func (b *bench) webhooksOnPostgres() error {
	server, err := startPostgres()
	if err != nil {
		return err
	}
	defer server.stop()
	db, err := postgres.Open(b.ctx, server.url)
	if err != nil {
		return err
	}
	defer db.Close()
	return b.deliveries("postgres", server.url, db, server.busy)
}

// deliveries measures the webhooks of a service with a store. database returns the
// processor time of the store's own processes.
func (b *bench) deliveries(engine, address string, db store.Store, database func() (time.Duration, error)) error {
	market := market.New(seed + 1)
	if _, err := db.Append(b.ctx, store.Batch{Issuers: market.Issuers()}); err != nil {
		return err
	}
	key, err := b.key(address)
	if err != nil {
		return err
	}
	p, err := start(b.program, append([]string{
		"serve", "--source", "none", "--listen", "127.0.0.1:0", "--webhook-allow-private", "--bulk", "off", "--store", address,
	}, debugFlags()...)...)
	if err != nil {
		return err
	}
	defer p.stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	receiver, err := launch(self, "receive")
	if err != nil {
		return err
	}
	defer receiver.stop()
	for i := range hooks {
		body := fmt.Sprintf(`{"url":"%s/hook/%d","events":["%s"]}`, receiver.url, i, published)
		if err := post(p.url+"/api/v1/webhooks", key, body); err != nil {
			return err
		}
	}
	time.Sleep(2 * time.Second)
	busy := func() (time.Duration, error) {
		ours, err := p.busy()
		if err != nil {
			return 0, err
		}
		theirs, err := database()
		return ours + theirs, err
	}
	var all []hookRound
	for some := range slices.Chunk(slices.Collect(market.Bulk(hookRounds*hookChanges, until)), hookChanges) {
		r, err := b.hookRound(db, some, receiver, busy)
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		fmt.Fprintf(os.Stderr, "# %s: %.0f/s, %.0f/s, %.0f/s; %.0f us, %.0f us, %.0f us\n", engine,
			r.ours.rate, r.bare.rate, r.kept.rate, r.ours.cost, r.bare.cost, r.kept.cost)
		all = append(all, r)
	}
	of := func(value func(hookRound) float64) float64 {
		var values []float64
		for _, r := range all {
			values = append(values, value(r))
		}
		return median(values)
	}
	figure("webhook.rate."+engine, of(func(r hookRound) float64 { return r.ours.rate / r.bare.rate }), "ratio")
	figure("webhook.rate."+engine+".kept", of(func(r hookRound) float64 { return r.ours.rate / r.kept.rate }), "ratio")
	for _, each := range []struct {
		name string
		of   func(hookRound) posting
	}{
		{"", func(r hookRound) posting { return r.ours }},
		{".bare", func(r hookRound) posting { return r.bare }},
		{".bare_kept", func(r hookRound) posting { return r.kept }},
	} {
		figure("webhook.rate."+engine+each.name+".posts", of(func(r hookRound) float64 { return each.of(r).rate }), "posts/s")
		figure("webhook.processor."+engine+each.name, of(func(r hookRound) float64 { return each.of(r).cost }), "us")
	}
	return nil
}

// posting is how many bodies are posted in a second, and the processor time of each in
// microseconds, with the database but without the receiver.
type posting struct{ rate, cost float64 }

// hookRound is the result of one round: of the service, and of the two loops.
type hookRound struct{ ours, bare, kept posting }

// hookRound appends reports, waits until all webhooks have them, and then posts the same
// bodies without a service.
func (b *bench) hookRound(
	db store.Store, reports []disclosure.Report, receiver *process, busy func() (time.Duration, error),
) (r hookRound, err error) {
	before, err := busy()
	if err != nil {
		return r, err
	}
	began := time.Now()
	if err := appendAll(b.ctx, db, reports); err != nil {
		return r, err
	}
	if r.ours.rate, err = arrive(receiver.url, began); err != nil {
		return r, err
	}
	time.Sleep(2 * time.Second) // until the last results are stored
	after, err := busy()
	if err != nil {
		return r, err
	}
	r.ours.cost = eachOf(after - before)
	if r.bare, err = postBare(receiver, 0); err != nil {
		return r, err
	}
	if r.kept, err = postBare(receiver, hooks); err != nil {
		return r, err
	}
	return r, post(receiver.url+"/reset", "", "")
}

// postBare posts the bodies that the receiver has, in a process of its own whose client
// keeps a number of connections, 0 for the default.
func postBare(receiver *process, connections int) (p posting, err error) {
	poster := exec.Command(receiver.cmd.Path, "post", receiver.url, strconv.Itoa(connections))
	out, err := poster.Output()
	if err != nil {
		return p, fmt.Errorf("posting: %w", err)
	}
	p.cost = eachOf(poster.ProcessState.UserTime() + poster.ProcessState.SystemTime())
	_, err = fmt.Sscan(string(out), &p.rate)
	return p, err
}

// eachOf returns the part of a processor time that is one delivery's, in microseconds.
func eachOf(d time.Duration) float64 {
	return float64(d.Microseconds()) / (hooks * hookChanges)
}

// appendAll appends reports as fast as the store takes them.
func appendAll(ctx context.Context, db store.Store, reports []disclosure.Report) error {
	for some := range slices.Chunk(reports, 100) {
		for i := range some {
			some[i].PublishedAt = time.Now().UTC()
		}
		if _, err := db.Append(ctx, store.Batch{Reports: some, New: disclosure.Published}); err != nil {
			return err
		}
	}
	return nil
}

// arrived is the response of the receiver.
type arrived struct {
	Count  int       `json:"count"`
	Twice  int       `json:"twice"`
	LastAt time.Time `json:"last_at"`
}

// arrive waits for all deliveries of a round, and returns the deliveries a second.
func arrive(receiver string, began time.Time) (float64, error) {
	var a arrived
	for time.Since(began) < 2*time.Minute {
		time.Sleep(100 * time.Millisecond)
		if err := getJSON(receiver+"/count", &a); err != nil {
			return 0, err
		}
		if a.Count == hooks*hookChanges {
			time.Sleep(time.Second) // for repeated deliveries
			if err := getJSON(receiver+"/count", &a); err != nil {
				return 0, err
			}
			if a.Twice > 0 {
				return 0, fmt.Errorf("%d deliveries arrived more than once", a.Twice)
			}
			return float64(a.Count) / a.LastAt.Sub(began).Seconds(), nil
		}
	}
	return 0, fmt.Errorf("%d of %d deliveries arrived", a.Count, hooks*hookChanges)
}

// receiver receives deliveries and records their ids.
type receiver struct {
	mu     sync.Mutex
	ids    map[string]struct{} // guarded by mu
	bodies []string            // guarded by mu: those of the first webhook
	arrived
}

func receiveMain() {
	r := &receiver{ids: map[string]struct{}{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hook/{n}", r.take)
	mux.HandleFunc("POST /bare/{n}", r.take)
	mux.HandleFunc("POST /reset", func(http.ResponseWriter, *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ids, r.bodies, r.arrived = map[string]struct{}{}, nil, arrived{}
	})
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		_ = json.NewEncoder(w).Encode(r.arrived)
	})
	mux.HandleFunc("GET /bodies", func(w http.ResponseWriter, _ *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		_ = json.NewEncoder(w).Encode(r.bodies)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, "listening address=http://%s\n", l.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(l, mux))
}

func (r *receiver) take(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id := req.Header.Get("Webhook-Id")
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.ids[id]; ok || id == "" {
		r.Twice++
		return
	}
	r.ids[id] = struct{}{}
	if req.URL.Path == "/hook/0" {
		r.bodies = append(r.bodies, string(body))
	}
	r.Count, r.LastAt = r.Count+1, time.Now()
}

// postMain posts the bodies that the receiver has from as many goroutines as
// there are webhooks, and prints the posts a second.
func postMain(args []string) {
	connections, err := strconv.Atoi(args[1])
	var rate float64
	if err == nil {
		rate, err = postAll(args[0], connections)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "post:", err)
		os.Exit(1)
	}
	fmt.Println(rate)
}

func postAll(base string, connections int) (float64, error) {
	var bodies []string
	if err := getJSON(base+"/bodies", &bodies); err != nil {
		return 0, err
	}
	client := outbound.NewClient(outbound.Options{
		AllowPrivate: true,
		Timeout:      15 * time.Second,
		IdlePerHost:  connections,
	})
	failures := make([]error, hooks)
	var wg sync.WaitGroup
	began := time.Now()
	for n := range hooks {
		wg.Go(func() {
			for i, body := range bodies {
				url := fmt.Sprintf("%s/bare/%d", base, n)
				id := fmt.Sprintf("bare-%d-%d.%d", connections, n, i)
				if failures[n] = postOne(client, url, id, body); failures[n] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(hooks*len(bodies)) / time.Since(began).Seconds(), errors.Join(failures...)
}

func postOne(client *http.Client, target, id, body string) error {
	req, err := http.NewRequest(http.MethodPost, target, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "pregon/bench (+http://127.0.0.1:8080)")
	req.Header.Set("Webhook-Id", id)
	req.Header.Set("Webhook-Timestamp", "1700000000")
	req.Header.Set("Webhook-Signature", "v1,"+strings.Repeat("x", 44))
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("posting: got status %s", resp.Status)
	}
	return nil
}
