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

// webhooks compares deliveries a second with a loop that posts the same bodies
// by the same client, in turns.
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
	if err := b.deliveries("sqlite", "sqlite:"+path, db); err != nil {
		return err
	}
	return b.onPostgres(func(url string, db *postgres.Store) error { return b.deliveries("postgres", url, db) })
}

func (b *bench) deliveries(engine, address string, db store.Store) error {
	market := market.New(seed + 1)
	if _, err := db.Append(b.ctx, store.Batch{Issuers: market.Issuers()}); err != nil {
		return err
	}
	key, err := b.key(address)
	if err != nil {
		return err
	}
	p, err := start(b.program, append([]string{
		"serve", "--source", "none", "--listen", "127.0.0.1:0", "--webhook-allow-private", "--store", address,
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
	reports := slices.Collect(market.Bulk(hookRounds*hookChanges, until))
	var ratios, rates, bares []float64
	for some := range slices.Chunk(reports, hookChanges) {
		began := time.Now()
		if err := appendAll(b.ctx, db, some); err != nil {
			return err
		}
		ours, err := arrive(receiver.url, began)
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		time.Sleep(2 * time.Second) // until the last results are stored
		bare, err := exec.Command(self, "post", receiver.url).Output()
		if err != nil {
			return fmt.Errorf("posting: %w", err)
		}
		var theirs float64
		if _, err := fmt.Sscan(string(bare), &theirs); err != nil {
			return err
		}
		if err := post(receiver.url+"/reset", "", ""); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "# %s: %.0f/s, %.0f/s\n", engine, ours, theirs)
		ratios, rates, bares = append(ratios, ours/theirs), append(rates, ours), append(bares, theirs)
	}
	figure("webhook.rate."+engine, median(ratios), "ratio")
	figure("webhook.rate."+engine+".deliveries", median(rates), "deliveries/s")
	figure("webhook.rate."+engine+".bare", median(bares), "posts/s")
	return nil
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
	rate, err := postAll(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "post:", err)
		os.Exit(1)
	}
	fmt.Println(rate)
}

func postAll(base string) (float64, error) {
	var bodies []string
	if err := getJSON(base+"/bodies", &bodies); err != nil {
		return 0, err
	}
	client := outbound.NewClient(outbound.Options{AllowPrivate: true, Timeout: 15 * time.Second})
	failures := make([]error, hooks)
	var wg sync.WaitGroup
	began := time.Now()
	for n := range hooks {
		wg.Go(func() {
			for i, body := range bodies {
				if failures[n] = postOne(client, fmt.Sprintf("%s/bare/%d", base, n), fmt.Sprintf("bare-%d.%d", n, i), body); failures[n] != nil {
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
