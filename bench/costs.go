package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
)

// costs are what each kind of work takes on this machine, measured with one replica on
// PostgreSQL.
type costs struct {
	Reports  int             `json:"reports"`
	Requests map[string]work `json:"requests"` // of one kind of the mix after another
	Mix      work            `json:"mix"`      // a request of the mix of all kinds
	Idle     work            `json:"idle"`     // a second of a replica without work
	Append   work            `json:"append"`   // a report by the process that reads the source
	Follow   work            `json:"follow"`   // a change on each replica
	Listener work            `json:"listener"` // a second of a stream that waits
	Event    work            `json:"event"`    // a change for each stream
	Delivery work            `json:"delivery"` // a change for each webhook
	Counted  work            `json:"counted"`  // a request of a caller without a key, with Redis
}

// work is what one piece of work takes. Processor times are in microseconds.
type work struct {
	Replica      float64 `json:"replica"`
	Writer       float64 `json:"writer,omitempty"`
	Postgres     float64 `json:"postgres,omitempty"`
	Redis        float64 `json:"redis,omitempty"`
	Transactions float64 `json:"transactions,omitempty"`
	Bytes        float64 `json:"bytes,omitempty"`  // of an answer
	Memory       float64 `json:"memory,omitempty"` // resident, in bytes
}

const (
	costStreams  = 1000
	costAppends  = 50                         // measured at a time
	costPause    = time.Second / mixedAppends // between them: each is published alone
	costHooks    = 48
	costRequests = 6 * time.Second
	costChanges  = int(costRequests/time.Second) * mixedAppends
	costIdle     = 10 * time.Second
	costNumbers  = 60_000_000 // of reports: the mix has others
)

// costsFile is where load keeps what it measured, for scale.
func (b *bench) costsFile() string { return filepath.Join(b.dir, "costs.json") }

func (b *bench) saveCosts(c *costs) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(b.costsFile(), append(text, '\n'), 0o644)
}

func (b *bench) loadCosts() (*costs, error) {
	text, err := os.ReadFile(b.costsFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there are no measured costs in %s: run `make load` first", b.costsFile())
	}
	if err != nil {
		return nil, err
	}
	c := &costs{}
	return c, json.Unmarshal(text, c)
}

// meter measures a replica, the store behind it and this process.
type meter struct {
	b       *bench
	server  *cluster
	db      *postgres.Store
	url     string
	replica *process
	number  int64
	idle    work // a second, subtracted from every measurement
}

// counters is the state of all that is measured, at a time.
type counters struct {
	at           time.Time
	replica      time.Duration
	postgres     time.Duration
	writer       time.Duration
	transactions int64
}

func (m *meter) read() (r counters, err error) {
	if r.replica, err = m.replica.busy(); err != nil {
		return r, err
	}
	if r.postgres, err = familyBusy(m.server.cmd.Process.Pid); err != nil {
		return r, err
	}
	if r.transactions, err = transactions(m.b.ctx, m.url); err != nil {
		return r, err
	}
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		return r, err
	}
	r.writer = time.Duration(self.Utime.Nano() + self.Stime.Nano())
	r.at = time.Now()
	return r, nil
}

// measure returns what one of n pieces of work takes that do does, beyond the work of an
// idle replica.
func (m *meter) measure(do func() (n float64, err error)) (work, error) {
	before, err := m.read()
	if err != nil {
		return work{}, err
	}
	n, err := do()
	if err != nil {
		return work{}, err
	}
	after, err := m.read()
	if err != nil {
		return work{}, err
	}
	if n == 0 {
		return work{}, errors.New("nothing was done")
	}
	seconds := after.at.Sub(before.at).Seconds()
	each := func(d time.Duration, idle float64) float64 {
		return max(0, float64(d.Microseconds())-idle*seconds) / n
	}
	return work{
		Replica:      each(after.replica-before.replica, m.idle.Replica),
		Postgres:     each(after.postgres-before.postgres, m.idle.Postgres),
		Writer:       each(after.writer-before.writer, 0),
		Transactions: max(0, float64(after.transactions-before.transactions)-m.idle.Transactions*seconds) / n,
	}, nil
}

// measureCosts measures each kind of work alone.
func (b *bench) measureCosts(server *cluster, db *postgres.Store, reports int) (*costs, error) {
	m := &meter{
		b:      b,
		server: server,
		db:     db,
		url:    server.url,
		number: costNumbers,
	}
	var err error
	if m.replica, err = b.mixedReplica(server.url); err != nil {
		return nil, err
	}
	defer func() { _ = m.replica.stop() }()
	c := &costs{Reports: reports, Requests: map[string]work{}}
	time.Sleep(5 * time.Second) // what a new process does once
	if c.Idle, err = m.waiting(1); err != nil {
		return nil, err
	}
	m.idle = c.Idle
	for _, step := range []func(*costs) error{m.changes, m.requests, m.streams, m.webhooks, m.counted} {
		if err := step(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// waiting measures a second without work, as a share for each of n.
func (m *meter) waiting(n float64) (work, error) {
	w, err := m.measure(func() (float64, error) {
		began := time.Now()
		time.Sleep(costIdle)
		return time.Since(began).Seconds() * n, nil
	})
	w.Writer = 0
	return w, err
}

// requests measures each kind of request of the mix, and the mix of them, while reports are
// appended as they are in the mix: pages and sets that are kept belong to one state of the
// catalogue.
func (m *meter) requests(c *costs) error {
	mixed := &mix{replicas: []*process{m.replica}, times: map[string][]time.Duration{}, errors: map[string]int{}}
	if err := mixed.requests(); err != nil {
		return err
	}
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(weights)) {
		w, err := m.sent(c, mixed, func(int) string { return kind })
		if err != nil {
			return err
		}
		of := mixed.kinds[kind]
		size, err := meanSize(m.replica.url, of[:min(100, len(of))])
		if err != nil {
			return err
		}
		w.Bytes = float64(size)
		c.Requests[kind] = w
		c.Mix.Bytes += w.Bytes * float64(weights[kind])
		total += weights[kind]
	}
	size := c.Mix.Bytes / float64(total)
	var err error
	c.Mix, err = m.sent(c, mixed, func(int) string { return anyKind(rand.N(total)) })
	c.Mix.Bytes = size
	return err
}

// sent measures requests of the kinds that next chooses, without the changes meanwhile.
func (m *meter) sent(c *costs, mixed *mix, next func(int) string) (work, error) {
	mixed.send(time.Second, next) // to warm up
	var sent int64
	w, err := m.measure(func() (float64, error) {
		appended := make(chan error, 1)
		go func() { appended <- m.publish(costChanges) }()
		sent, _ = mixed.send(costRequests, next)
		return float64(sent), <-appended
	})
	if err := cmp.Or(err, mixed.failure); err != nil {
		return work{}, err
	}
	changes := float64(costChanges) / float64(sent)
	return work{
		Replica:      max(0, w.Replica-changes*c.Follow.Replica),
		Postgres:     max(0, w.Postgres-changes*(c.Append.Postgres+c.Follow.Postgres)),
		Transactions: max(0, w.Transactions-changes*(c.Append.Transactions+c.Follow.Transactions)),
	}, nil
}

// changes measures reports that are appended one by one: first while the replica is stopped,
// which is the work of the append alone, then with the replica, which follows.
func (m *meter) changes(c *costs) error {
	alone := *m
	alone.idle = work{}
	if err := m.replica.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	w, err := alone.measure(func() (float64, error) {
		_, err := alone.append(costAppends, costPause)
		return costAppends, err
	})
	if err := errors.Join(err, m.replica.cmd.Process.Signal(syscall.SIGCONT)); err != nil {
		return err
	}
	c.Append = work{Writer: w.Writer, Postgres: w.Postgres, Transactions: 1}
	m.number = alone.number
	time.Sleep(5 * time.Second) // the replica catches up
	if w, err = m.measure(func() (float64, error) { return costAppends, m.publish(costAppends) }); err != nil {
		return err
	}
	c.Follow = work{
		Replica:      w.Replica,
		Postgres:     max(0, w.Postgres-c.Append.Postgres),
		Transactions: max(0, w.Transactions-1),
	}
	return nil
}

// publish appends n reports at the pace of the mix, and waits until the replica has them.
func (m *meter) publish(n int) error {
	id, err := m.append(n, costPause)
	if err != nil {
		return err
	}
	return await(m.replica.url + "/api/v1/reports/" + id)
}

// append appends n reports, each after a pause, and returns the id of the last.
func (m *meter) append(n int, pause time.Duration) (id string, err error) {
	for r := range market.New(seed+2).Bulk(n, until) {
		m.number++
		r.Number = m.number
		r.ID = disclosure.ReportID(r.Type, r.Number)
		r.PublishedAt = time.Now().UTC()
		batch := store.Batch{Reports: []disclosure.Report{r}, New: disclosure.Published}
		if _, err := m.db.Append(m.b.ctx, batch); err != nil {
			return "", err
		}
		id = r.ID
		time.Sleep(pause)
	}
	return id, nil
}

// await waits until an address exists.
func await(address string) error {
	for range 3000 {
		resp, err := http.Get(address)
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("%s does not appear", address)
}

// streams measures streams that wait, and events on all of them.
func (m *meter) streams(c *costs) error {
	requests, err := m.b.streamRequests(m.url, costStreams)
	if err != nil {
		return err
	}
	before, err := m.replica.memory()
	if err != nil {
		return err
	}
	l, err := listen(m.replica.url, costStreams, requests)
	if err != nil {
		return err
	}
	defer func() { _ = l.stop() }()
	if c.Listener, err = m.waiting(costStreams); err != nil {
		return err
	}
	after, err := m.replica.memory()
	if err != nil {
		return err
	}
	c.Listener.Memory = max(0, after-before) / costStreams
	w, err := m.measure(func() (float64, error) {
		if err := m.publish(costAppends); err != nil {
			return 0, err
		}
		for range costAppends {
			select {
			case <-l.receipts:
			case <-time.After(time.Minute):
				return 0, errors.New("an event did not reach all streams")
			}
		}
		return costAppends, nil
	})
	if err != nil {
		return err
	}
	c.Event = work{Replica: max(0, w.Replica-c.Follow.Replica) / costStreams}
	return nil
}

// webhooks measures deliveries.
func (m *meter) webhooks(c *costs) error {
	key, err := m.b.key(m.url)
	if err != nil {
		return err
	}
	var arrived atomic.Int64
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	receiver := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) })}
	go func() { _ = receiver.Serve(l) }()
	defer receiver.Close()
	for i := range costHooks {
		if i%hooks == hooks-1 { // an account may have a few
			if key, err = m.b.key(m.url); err != nil {
				return err
			}
		}
		body := fmt.Sprintf(`{"url":"http://%s/%d","events":["%s"]}`, l.Addr(), i, published)
		if err := post(m.replica.url+"/api/v1/webhooks", key, body); err != nil {
			return err
		}
	}
	time.Sleep(2 * time.Second) // the fan-out learns of them
	w, err := m.measure(func() (float64, error) {
		if err := m.publish(costAppends); err != nil {
			return 0, err
		}
		deadline := time.Now().Add(2 * time.Minute)
		for arrived.Load() < costAppends*costHooks {
			if time.Now().After(deadline) {
				return 0, fmt.Errorf("%d of %d deliveries arrived", arrived.Load(), costAppends*costHooks)
			}
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(2 * time.Second) // until the last results are stored
		return costAppends, nil
	})
	if err != nil {
		return err
	}
	c.Delivery = work{
		Replica:      max(0, w.Replica-c.Follow.Replica) / costHooks,
		Postgres:     max(0, w.Postgres-c.Append.Postgres-c.Follow.Postgres) / costHooks,
		Transactions: max(0, w.Transactions-c.Append.Transactions-c.Follow.Transactions) / costHooks,
	}
	return nil
}

// counted measures what counting in Redis adds to a list.
func (m *meter) counted(c *costs) error {
	r, err := startRedis()
	if err != nil {
		return err
	}
	defer r.stop()
	p, err := m.b.mixedReplica(m.url, "--anonymous-limit", "1000000", "--redis", r.url)
	if err != nil {
		return err
	}
	defer func() { _ = p.stop() }()
	mixed := &mix{replicas: []*process{p}, times: map[string][]time.Duration{}, errors: map[string]int{}}
	if err := mixed.requests(); err != nil {
		return err
	}
	alone := m.replica
	m.replica = p
	defer func() { m.replica = alone }()
	before, err := familyBusy(r.cmd.Process.Pid)
	if err != nil {
		return err
	}
	var sent int64
	w, err := m.measure(func() (float64, error) {
		sent, _ = mixed.send(costRequests, func(int) string { return "list" })
		return float64(sent), nil
	})
	if err := cmp.Or(err, mixed.failure); err != nil {
		return err
	}
	after, err := familyBusy(r.cmd.Process.Pid)
	if err != nil {
		return err
	}
	c.Counted = work{
		Replica: max(0, w.Replica-c.Requests["list"].Replica),
		Redis:   float64((after - before).Microseconds()) / float64(sent),
	}
	return nil
}

// startRedis returns when a Redis server without files accepts connections.
func startRedis() (*cluster, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-redis-")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, url: "redis://127.0.0.1:" + port + "/0"}
	c.cmd = exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", dir)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for range 600 {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			return c, conn.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.stop()
	return nil, errors.New("redis does not start")
}

// familyBusy returns the processor time of a process and of its children, with those that
// have ended.
func familyBusy(pid int) (sum time.Duration, err error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		before, rest, _ := strings.Cut(string(text), " (")
		at := strings.LastIndex(rest, ") ")
		if at < 0 {
			continue
		}
		fields := strings.Fields(rest[at+2:])
		const parent, utime, stime, endedUser, endedSystem, tick = 1, 11, 12, 13, 14, 10 * time.Millisecond
		if len(fields) <= endedSystem {
			continue
		}
		own := before == strconv.Itoa(pid)
		if !own && fields[parent] != strconv.Itoa(pid) {
			continue
		}
		counted := []int{utime, stime}
		if own {
			counted = append(counted, endedUser, endedSystem)
		}
		for _, i := range counted {
			n, err := strconv.ParseInt(fields[i], 10, 64)
			if err != nil {
				return 0, err
			}
			sum += time.Duration(n) * tick
		}
	}
	return sum, nil
}

// print prints a row for each kind of work.
func (c *costs) print() {
	fmt.Printf("\nwhat a piece of work takes, with %d reports; processor times in µs\n\n", c.Reports)
	fmt.Print("| work | replica | PostgreSQL | transactions | Redis | bytes |\n|---|---|---|---|---|---|\n")
	row := func(name string, w work) {
		fmt.Printf("| %s | %.1f | %.1f | %.2f | %.1f | %.0f |\n", name,
			w.Replica+w.Writer, w.Postgres, w.Transactions, w.Redis, w.Bytes+w.Memory)
	}
	for _, kind := range slices.Sorted(maps.Keys(c.Requests)) {
		row(kind, c.Requests[kind])
	}
	row("a request of the mix", c.Mix)
	row("counting a request in Redis", c.Counted)
	row("a change, where it is appended", c.Append)
	row("a change, on each replica", c.Follow)
	row("an event, for each stream", c.Event)
	row("a stream that waits, each second; memory", c.Listener)
	row("a delivery to a webhook", c.Delivery)
	row("an idle replica, each second", c.Idle)
	fmt.Println()
}

// transactions returns how many transactions the databases of a server have ended.
func transactions(ctx context.Context, url string) (n int64, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_stat_database").Scan(&n)
	return n, err
}
