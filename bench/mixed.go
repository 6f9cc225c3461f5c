package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/sqlite"
)

const (
	mixedConnections = 8
	mixedStreams     = 300
	mixedHooks       = 4
	mixedAppends     = 5 // reports a second
	mostRequests     = 5_000_000
)

// mixedMain sends a mixed load to one and to three replicas on this machine, and prints
// a table for each: load [-for 30s] [-reports 350000] [-dir data].
func mixedMain(args []string) error {
	flags := flag.NewFlagSet("load", flag.ExitOnError)
	lasts := flags.Duration("for", 30*time.Second, "how long to send the mix, at most ten minutes; the kinds one by one take as long together")
	reports := flags.Int("reports", whole, "reports in the store")
	dir := flags.String("dir", "data", "where generated stores are kept between runs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *lasts <= 0 || *lasts > 10*time.Minute {
		return fmt.Errorf("-for is %v, want at most 10m", *lasts)
	}
	b := &bench{ctx: context.Background(), dir: *dir}
	if err := b.build(); err != nil {
		return err
	}
	if err := b.mixedSQLite(*reports, *lasts); err != nil {
		return fmt.Errorf("SQLite: %w", err)
	}
	var measured *costs
	for _, replicas := range []int{1, 3} {
		err := b.onCluster(func(server *cluster, db *postgres.Store) error {
			if err := fillStore(b.ctx, db, *reports); err != nil {
				return err
			}
			if measured == nil {
				var err error
				if measured, err = b.measureCosts(server, db, *reports); err != nil {
					return err
				}
				measured.print()
				if err := b.saveCosts(measured); err != nil {
					return err
				}
			}
			title := fmt.Sprintf("PostgreSQL, replicas: %d, reports: %d", replicas, *reports)
			return b.mixed(title, server.url, db, replicas, *lasts, measured)
		})
		if err != nil {
			return fmt.Errorf("PostgreSQL: %w", err)
		}
	}
	return nil
}

func (b *bench) mixedSQLite(reports int, lasts time.Duration) error {
	path, err := b.copyStore(reports)
	if err != nil {
		return err
	}
	defer b.scratch("scratch.db")
	db, err := sqlite.Open(b.ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	return b.mixed(fmt.Sprintf("SQLite, replicas: 1, reports: %d", reports), "sqlite:"+path, db, 1, lasts, nil)
}

// mix is a load on some replicas.
type mix struct {
	replicas []*process
	kinds    map[string][][]byte // requests by kind of operation
	costs    *costs              // of one piece of work; may be nil

	mu      sync.Mutex
	times   map[string][]time.Duration // guarded by mu: of streams and webhooks too
	errors  map[string]int             // guarded by mu
	failure error                      // guarded by mu: the first error
}

// weights is the share of each kind in the mix, of 20.
var weights = map[string]int{"list": 6, "search": 5, "report": 4, "page": 3, "MCP": 2}

func (m *mix) took(kind string, times ...time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.times[kind] = append(m.times[kind], times...)
}

func (m *mix) failed(kind string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.errors[kind]++
	if m.failure == nil {
		m.failure = fmt.Errorf("%s: %w", kind, err)
	}
}

// mixedReplica starts a replica for the mix; args come after its settings.
func (b *bench) mixedReplica(address string, args ...string) (*process, error) {
	return start(b.program, append([]string{
		"serve",
		"--source", "none",
		"--listen", "127.0.0.1:0",
		"--anonymous-limit", "0",
		"--bulk", "off",
		"--webhook-allow-private",
		"--store", address,
	}, args...)...)
}

// mixed starts the replicas and prints the table. With measured costs it also prints what
// they predict.
func (b *bench) mixed(title, address string, db store.Store, replicas int, lasts time.Duration, measured *costs) error {
	m := &mix{times: map[string][]time.Duration{}, errors: map[string]int{}, costs: measured}
	for range replicas {
		p, err := b.mixedReplica(address)
		if err != nil {
			return err
		}
		defer p.stop()
		m.replicas = append(m.replicas, p)
	}
	if err := m.requests(); err != nil {
		return err
	}
	key, err := b.key(address)
	if err != nil {
		return err
	}
	received, err := m.hook(key)
	if err != nil {
		return err
	}
	defer received.Close()
	requests, err := b.streamRequests(address, mixedStreams)
	if err != nil {
		return err
	}
	each := len(requests) / replicas // a key may open a hundred streams
	for i, p := range m.replicas {
		l, err := listen(p.url, mixedStreams/replicas, requests[i*each:(i+1)*each])
		if err != nil {
			return err
		}
		defer l.stop()
		go m.hear(l)
	}
	return m.run(b.ctx, title, db, lasts)
}

// hear records how long after its append each event had reached all streams of a replica.
func (m *mix) hear(l *listeners) {
	for r := range l.receipts {
		m.since("stream", []byte(r.Data), time.Unix(0, r.Last))
	}
}

// since records the time from an event's append to its arrival.
func (m *mix) since(kind string, event []byte, arrived time.Time) {
	var e struct {
		At time.Time `json:"occurred_at"`
	}
	if err := json.Unmarshal(event, &e); err != nil {
		m.failed(kind, err)
		return
	}
	m.took(kind, arrived.Sub(e.At))
}

// hook creates webhooks and receives their deliveries.
func (m *mix) hook(key string) (io.Closer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived := time.Now()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			m.failed("webhook", err)
			return
		}
		m.since("webhook", body, arrived)
	}))
	for range mixedHooks {
		if err := post(m.replicas[0].url+"/api/v1/webhooks", key, fmt.Sprintf(`{"url":"http://%s/","events":["%s"]}`, l.Addr(), published)); err != nil {
			return l, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// requests prepares the requests of each kind.
func (m *mix) requests() error {
	ids, err := reportIDs(m.replicas[0].url)
	if err != nil {
		return err
	}
	texts := queries(1000)
	calls, err := toolCalls(texts, "")
	if err != nil {
		return err
	}
	m.kinds = map[string][][]byte{"search": searches(texts), "MCP": calls}
	for i, id := range ids {
		m.kinds["list"] = append(m.kinds["list"], request(fmt.Sprintf("/api/v1/reports?limit=20&page=%d", 1+i%50)))
		m.kinds["report"] = append(m.kinds["report"], request("/api/v1/reports/"+id))
		page := "/reports/" + id
		if i%3 == 0 {
			page = "/"
		}
		m.kinds["page"] = append(m.kinds["page"], request(page, "Accept: text/html"))
	}
	return nil
}

// send sends requests of the kinds that next chooses, without pauses, over a few
// connections to each replica in turn.
func (m *mix) send(lasts time.Duration, next func(i int) string) (requests int64, took time.Duration) {
	var sent atomic.Int64
	var senders sync.WaitGroup
	begin := time.Now()
	for n := range mixedConnections {
		senders.Go(func() {
			times := map[string][]time.Duration{}
			defer func() {
				for kind, of := range times {
					m.took(kind, of...)
				}
			}()
			var c *client
			for i := n * 7919; time.Since(begin) < lasts && sent.Add(1) <= mostRequests; i++ {
				kind := next(i)
				if c == nil {
					var err error
					if c, err = dial(m.replicas[n%len(m.replicas)].url); err != nil {
						m.failed(kind, err)
						return
					}
				}
				of := m.kinds[kind]
				began := time.Now()
				if _, err := c.get(of[i%len(of)]); err != nil {
					m.failed(kind, err)
					c.conn.Close()
					c = nil
					continue
				}
				times[kind] = append(times[kind], time.Since(began))
			}
			if c != nil {
				c.conn.Close()
			}
		})
	}
	senders.Wait()
	return sent.Load(), time.Since(begin)
}

// publishSlowly appends new reports until the context ends, and returns their number.
func publishSlowly(ctx context.Context, db store.Store) (int, error) {
	tick := time.NewTicker(time.Second / mixedAppends)
	defer tick.Stop()
	n, number := 0, int64(50_000_000)
	for r := range market.New(seed+1).Bulk(100_000, until) {
		select {
		case <-ctx.Done():
			return n, nil
		case <-tick.C:
		}
		number++
		r.Number, r.ID, r.PublishedAt = number, disclosure.ReportID(r.Type, number), time.Now().UTC()
		if _, err := db.Append(context.WithoutCancel(ctx), store.Batch{Reports: []disclosure.Report{r}, New: disclosure.Published}); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
