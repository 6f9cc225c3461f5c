package main_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"pregon/internal/test/waittest"
)

// disorder is a kind of fault.
type disorder struct {
	part  string // what it strikes; two faults of one part never coincide
	kind  string
	lasts time.Duration // at least; at most twice as long
	// strike begins the fault. The result ends it.
	strike func() (end func() error)
}

// both is the kind under which faults that coincide are recorded.
const both = "two at once"

// faults has faults occur until end. Each kind occurs once before any occurs again. It
// measures how long it takes until every client has every report.
func (s *soakRun) faults(end time.Time) {
	s.Helper()
	all := s.disorders()
	var deck []disorder
	for time.Now().Before(end) {
		if len(deck) < len(all)/2 {
			for _, i := range s.rng.Perm(len(all)) {
				deck = append(deck, all[i])
			}
		}
		drawn := deck[:1]
		if s.rng.IntN(4) == 0 {
			if i := slices.IndexFunc(deck, func(d disorder) bool { return d.part != drawn[0].part }); i > 0 {
				deck[1], deck[i] = deck[i], deck[1]
				drawn = deck[:2]
			}
		}
		deck = deck[len(drawn):]
		s.suffer(drawn)
		s.pause(2 * time.Second)
	}
}

// suffer has the faults occur at the same time, and waits for the recovery.
func (s *soakRun) suffer(drawn []disorder) {
	s.Helper()
	// A process can only start while its database answers, so that one ends first.
	drawn = slices.SortedFunc(slices.Values(drawn), func(a, b disorder) int { return strings.Compare(a.part, b.part) })
	kind, longest := drawn[0].kind, time.Duration(0)
	var ends []func() error
	for _, d := range drawn {
		s.result.struck(d.kind)
		ends = append(ends, d.strike())
		longest = max(longest, d.lasts)
	}
	if len(drawn) > 1 {
		kind = both
	}
	s.pause(longest)
	for i, end := range ends {
		if err := end(); err != nil {
			s.Fatalf("%s: %v", drawn[i].kind, err)
		}
	}
	began := time.Now()
	if err := s.recover(); err != nil {
		for i := range s.fleet.sights {
			s.Logf("the log of serve %d:\n%s", i, s.fleet.at(i).log.events())
		}
		s.Fatalf("after %s: %v", kind, err)
	}
	s.result.recovered(kind, time.Since(began))
}

// pause waits for a random time, at least d.
func (s *soakRun) pause(d time.Duration) {
	if s.brief {
		d /= 4
	}
	waittest.Pace(s.Context(), d+time.Duration(s.rng.Float64()*float64(d)))
}

// recover waits until all clients and all replicas have all that is published by now.
func (s *soakRun) recover() error {
	reports := s.publications()
	missing := -1
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); waittest.Pace(s.Context(), 20*time.Millisecond) {
		for s.confirmed < len(reports) && s.clients.have(reports[s.confirmed:s.confirmed+1]) {
			s.confirmed++
		}
		if s.confirmed < len(reports) {
			continue
		}
		missing = slices.IndexFunc(s.fleet.sights, func(sight *sight) bool { return !s.shows(slices.Index(s.fleet.sights, sight), reports) })
		if missing < 0 {
			return nil
		}
	}
	return fmt.Errorf("of %d reports %d are everywhere; replica without the newest: %d", len(reports), s.confirmed, missing)
}

// shows reports whether a replica has the newest of the reports.
func (s *soakRun) shows(i int, reports []publication) bool {
	if len(reports) == 0 {
		return true
	}
	status, _, err := ask(s.Context(), s.fleet.at(i).url, s.key, "/api/v1/reports/"+reports[len(reports)-1].id, "application/json")
	return err == nil && status == http.StatusOK
}

// disorders returns the kinds of faults, in a fixed order.
func (s *soakRun) disorders() []disorder {
	all := []disorder{
		{"replica", "replica killed (SIGKILL)", 2 * time.Second, s.kill},
		{"replica", "replica restarted (SIGTERM)", time.Second, s.restart},
		{"replica", "replica frozen (SIGSTOP)", 8 * time.Second, s.freeze},
		{"source", "source unreachable for a replica", 25 * time.Second, s.goBlind},
		{"redis", "Redis stopped", 5 * time.Second, func() func() error {
			s.redis.Kill()
			return func() error { s.redis.Restart(); return nil }
		}},
		{"redis", "Redis frozen", 5 * time.Second, func() func() error {
			s.redis.Pause()
			return func() error { s.redis.Resume(); return nil }
		}},
	}
	for mood, kind := range map[int32]string{slowMood: "webhook receiver slow", failingMood: "webhook receiver fails", hangingMood: "webhook receiver hangs"} {
		all = append(all, disorder{"receiver", kind, 8 * time.Second, func() func() error {
			s.clients.struck.mood.Store(mood)
			return func() error { s.clients.struck.mood.Store(calmMood); return nil }
		}})
	}
	for kind, fault := range sourceFaults {
		all = append(all, disorder{"source", "source: " + kind, 10 * time.Second, func() func() error {
			s.src.arm(s.T, fault)
			return func() error { s.src.disarm(s.T); return nil }
		}})
	}
	if s.cluster != nil {
		all = append(all, s.clusterDisorders()...)
	} else {
		all = append(all, s.fileDisorders()...)
	}
	return slices.SortedFunc(slices.Values(all), func(a, b disorder) int { return strings.Compare(a.kind, b.kind) })
}

// sourceFaults are the faults of the simulated regulator.
var sourceFaults = map[string]string{
	"feeds fail":         `{"kind":"error500","surface":"feed","share":0.5,"for":"1h"}`,
	"connections reset":  `{"kind":"reset","surface":"feed","type":"oir","share":0.5,"for":"1h"}`,
	"feeds slow":         `{"kind":"stall","surface":"feed","share":0.3,"by":"700ms","for":"1h"}`,
	"lists fail":         `{"kind":"error500","surface":"list","share":0.5,"for":"1h"}`,
	"pages truncated":    `{"kind":"truncate","surface":"permalink","share":0.5,"for":"1h"}`,
	"pages fail as 200":  `{"kind":"errorpage","surface":"permalink","share":0.3,"for":"1h"}`,
	"requests forbidden": `{"kind":"error403","surface":"all","share":0.3,"for":"1h"}`,
	"one feed silent":    `{"kind":"silent","surface":"feed","type":"oir","for":"1h"}`,
	"feeds frozen":       `{"kind":"frozen","surface":"feed","for":"1h"}`,
}

// victim chooses a replica, half of the time the one that reads the source.
func (s *soakRun) victim() (i int, reads bool) {
	i = s.rng.IntN(len(s.fleet.sights))
	wanted := s.rng.IntN(2) == 0
	for n := range s.fleet.sights {
		if wanted && holds(s.fleet.at(n)) {
			return n, true
		}
	}
	return i, holds(s.fleet.at(i))
}

// takeOver waits until a replica other than i reads the source, if i did.
func (s *soakRun) takeOver(kind string, i int, reads bool) {
	s.Helper()
	if !reads || len(s.fleet.sights) == 1 {
		return
	}
	began := time.Now()
	for deadline := began.Add(patient); !s.othersRead(i); waittest.Pace(s.Context(), 20*time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("%s: no other replica reads the source", kind)
		}
	}
	s.result.tookOver(kind, time.Since(began))
}

// othersRead reports whether a replica other than i reads the source.
func (s *soakRun) othersRead(i int) bool {
	for n := range s.fleet.sights {
		if n != i && holds(s.fleet.at(n)) {
			return true
		}
	}
	return false
}

func (s *soakRun) kill() func() error {
	i, reads := s.victim()
	_ = s.fleet.at(i).end(syscall.SIGKILL)
	s.takeOver("replica killed (SIGKILL)", i, reads)
	return func() error { return s.fleet.start(i) }
}

func (s *soakRun) restart() func() error {
	i, reads := s.victim()
	serve := s.fleet.at(i)
	err := serve.end(syscall.SIGTERM)
	if err != nil {
		err = fmt.Errorf("serve did not end cleanly: %w\n%s", err, serve.log.events())
	}
	s.takeOver("replica restarted (SIGTERM)", i, reads)
	return func() error { return errors.Join(err, s.fleet.start(i)) }
}

func (s *soakRun) freeze() func() error {
	i, reads := s.victim()
	process := s.fleet.at(i).cmd.Process
	err := process.Signal(syscall.SIGSTOP)
	s.takeOver("replica frozen (SIGSTOP)", i, reads)
	return func() error { return errors.Join(err, process.Signal(syscall.SIGCONT)) }
}

// goBlind disconnects a replica from the source. After 20 seconds another one reads it.
func (s *soakRun) goBlind() func() error {
	i, _ := s.victim()
	s.fleet.sights[i].blind.Store(true)
	return func() error { s.fleet.sights[i].blind.Store(false); return nil }
}

// clusterDisorders are the faults of PostgreSQL.
func (s *soakRun) clusterDisorders() []disorder {
	stop := func(mode string) func() func() error {
		return func() func() error {
			err := s.cluster.Stop(mode)
			return func() error { return errors.Join(err, s.cluster.Start()) }
		}
	}
	return []disorder{
		{"database", "PostgreSQL stopped", 6 * time.Second, stop("fast")},
		{"database", "PostgreSQL crashed", 6 * time.Second, stop("immediate")},
		{"database", "PostgreSQL frozen", 6 * time.Second, func() func() error {
			s.cluster.Freeze()
			return func() error { s.cluster.Thaw(); return nil }
		}},
		{"database", "PostgreSQL connections cut", time.Second, func() func() error {
			return func() error {
				return s.cluster.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid()")
			}
		}},
	}
}

// fileDisorders are the faults of the file of SQLite. They are of the part replica: a
// process that starts meanwhile would create another file.
func (s *soakRun) fileDisorders() []disorder {
	path := strings.TrimPrefix(s.fleet.spec, "sqlite:")
	return []disorder{
		{"replica", "SQLite file moved away", 4 * time.Second, func() func() error {
			err := os.Rename(path, path+".away")
			return func() error {
				if _, exists := os.Stat(path); exists == nil {
					return fmt.Errorf("%s was created again while it was moved away", path)
				}
				return errors.Join(err, os.Rename(path+".away", path))
			}
		}},
		{"replica", "SQLite file locked", 6 * time.Second, func() func() error {
			db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(60000)")
			if err != nil {
				s.Fatal(err)
			}
			db.SetMaxOpenConns(1) // the transaction is of one connection
			_, err = db.Exec("BEGIN IMMEDIATE")
			return func() error {
				_, ended := db.Exec("ROLLBACK")
				return errors.Join(err, ended, db.Close())
			}
		}},
	}
}
