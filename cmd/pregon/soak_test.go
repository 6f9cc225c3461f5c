package main_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/server/ratelimit/redistest"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/storetest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

var (
	soakLasts  = flag.Duration("soak", 25*time.Second, "how long faults occur in TestSoak")
	soakSeed   = flag.Uint64("seed", 0, "seed of the faults of TestSoak; 0 chooses one")
	soakReport = flag.String("report", "", "file for the tables of TestSoak, as Markdown")
)

// TestSoak publishes reports under a mixed load, while faults of every part occur at
// random. In the end every surface must have every report exactly once. In make test-all
// it takes a minute; make soak takes ten.
func TestSoak(t *testing.T) {
	longtest.Skip(t, "it puts a load on the program for a while")
	t.Parallel()
	seed := *soakSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	results := &soakResults{lasts: *soakLasts, seed: seed}
	t.Cleanup(func() {
		t.Logf("seed %d\n%s", seed, results)
		if err := results.write(*soakReport); err != nil {
			t.Error(err)
		}
	})
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &soakRun{T: t, rng: rand.New(rand.NewPCG(seed, uint64(len(name)))), brief: *soakLasts < 3*time.Minute}
			if name == "postgres" {
				s.cluster = pgtest.NewCluster(t)
				s.start(s.cluster.URL(), 3)
			} else {
				s.start(newStore(t), 1)
			}
			results.add(name, s.result)
			s.play(time.Now().Add(*soakLasts))
			s.check()
		})
	}
}

// soakRun is TestSoak on one store.
type soakRun struct {
	*testing.T
	rng     *rand.Rand // of the faults
	brief   bool       // faults are short, to have more of them
	src     source
	reader  *reader
	fleet   *fleet
	cluster *pgtest.Cluster // nil with SQLite
	redis   *redistest.Server
	key     string
	began   int64                // the newest change when it began
	before  map[string]apiReport // published before
	known   []string             // the ids of before
	clients soakClients
	result  *soakResult

	mu        sync.Mutex
	published []publication // guarded by mu
	confirmed int           // how many of them every client has; used by one goroutine
}

// publication is a report that the source published during the run.
type publication struct {
	id string
	at time.Time
}

// start starts everything that faults may strike.
func (s *soakRun) start(spec string, replicas int) {
	s.Helper()
	s.src, s.redis = startSource(s.T), redistest.Start(s.T)
	s.fleet = &fleet{spec: spec, dir: s.TempDir(), args: []string{
		"--source", "cnmv", "--poll", "100ms", "--webhook-allow-private", "--debug-listen", "127.0.0.1:0", "--redis", s.redis.URL(),
	}}
	for range replicas {
		s.fleet.sights = append(s.fleet.sights, newSight(s.T, s.src.url))
	}
	s.fleet.startAll(s.T)
	s.reader = newReader(s.T, s.src, spec)
	s.reader.serve = s.fleet.at(0)
	s.reader.started(s.T)
	s.key = pregon(s.T, spec, "keys", "create", "--plan", "enterprise")
	s.before = s.truth()
	s.known = slices.Collect(maps.Keys(s.before))
	s.result = newSoakResult(replicas)
	s.clients.start(s)
}

// truth returns the reports of the series that are published here.
func (s *soakRun) truth() map[string]apiReport {
	s.Helper()
	today := disclosure.DayOf(time.Now())
	return s.src.truth(s.T, today-30, today+1, disclosure.IP, disclosure.OIR)
}

// play has faults occur until end, while reports are published and requests are sent.
func (s *soakRun) play(end time.Time) {
	s.Helper()
	ctx, stop := context.WithCancel(s.Context())
	var lanes sync.WaitGroup
	failures := make(chan error, 1)
	lanes.Go(func() { failures <- s.publishAll(ctx) })
	lanes.Go(func() { s.load(ctx) })
	for i := range s.fleet.sights {
		lanes.Go(func() { s.watchState(ctx, i) })
	}
	s.faults(end)
	stop()
	lanes.Wait()
	if err := <-failures; err != nil {
		s.Fatal(err)
	}
	s.result.Published = len(s.published)
	if s.result.Wrong != nil {
		s.Fatal(s.result.Wrong)
	}
}

// publishAll publishes reports at many times the rate of a real peak, until the context
// ends.
func (s *soakRun) publishAll(ctx context.Context) error {
	const every = 200 * time.Millisecond
	for n := 0; ctx.Err() == nil; n++ {
		body := fmt.Sprintf(`{"type":%q}`, []string{"oir", "ip", "oir"}[n%3])
		answer, err := s.src.control(context.WithoutCancel(ctx), http.MethodPost, "/_sim/publish", body)
		if err != nil {
			return err
		}
		var out struct{ ID string }
		if err := json.Unmarshal(answer, &out); err != nil {
			return err
		}
		s.mu.Lock()
		s.published = append(s.published, publication{out.ID, time.Now()})
		s.mu.Unlock()
		waittest.Pace(ctx, every/2+rand.N(every))
	}
	return nil
}

func (s *soakRun) publications() []publication {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.published
}

// watchState measures the longest time in which no replica said that it can see.
func (s *soakRun) watchState(ctx context.Context, i int) {
	for ; ctx.Err() == nil; waittest.Pace(ctx, 100*time.Millisecond) {
		var status struct{ State string }
		asking, end := context.WithTimeout(ctx, 2*time.Second)
		code, err := call(asking, s.fleet.at(i).url, s.key, http.MethodGet, "/api/v1/status", nil, &status)
		end()
		if err == nil && code == http.StatusOK && status.State != "blind" && status.State != "starting" {
			s.result.sighted()
		}
	}
}

// check waits until every surface has every report once, ends everything, and
// verifies the log.
func (s *soakRun) check() {
	s.Helper()
	filed := s.truth()
	for id := range s.before {
		delete(filed, id)
	}
	if len(filed) != len(s.published) {
		s.Fatalf("reports of the source: got %d, want the %d that were published", len(filed), len(s.published))
	}
	deadline := time.Now().Add(10 * time.Minute)
	for ; ; waittest.Pace(s.Context(), 200*time.Millisecond) {
		err := s.clients.agree(s, filed)
		if err == nil {
			err = s.pulled(filed)
		}
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			for i := range s.fleet.sights {
				s.Logf("the log of serve %d:\n%s", i, s.fleet.at(i).log.events())
			}
			s.Fatal(err)
		}
	}
	s.clients.measure(s)
	today := disclosure.DayOf(time.Now())
	s.reader.exact(s.T, today-1, today, disclosure.IP, disclosure.OIR)
	for i := range s.fleet.sights {
		if serve := s.fleet.at(i); serve.end(syscall.SIGTERM) != nil {
			s.Errorf("serve %d did not end cleanly:\n%s", i, serve.log)
		}
	}
	s.result.Changes = len(storetest.CheckLog(s.T, s.reader.store)) - int(s.began)
	pregon(s.T, s.fleet.spec, "verify")
}
