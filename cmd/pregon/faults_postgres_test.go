package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
)

// TestDatabaseFaults breaks PostgreSQL in various ways under two replicas.
func TestDatabaseFaults(t *testing.T) {
	longtest.Skip(t, "it breaks databases")
	t.Parallel()
	c := pgtest.NewCluster(t)
	w := newTrial(t, c.URL(), 2)
	away := []string{"does not answer", "broke", "starting", "shutting down"}
	for _, mode := range []string{"fast", "immediate"} {
		t.Run("stopped "+mode, func(t *testing.T) {
			w.endure(t, storeFault{
				begin: func() { must(t, c.Stop(mode)) }, end: func() { must(t, c.Start()) }, reasons: away, status: 503,
			})
		})
	}
	t.Run("frozen", func(t *testing.T) {
		w.endure(t, storeFault{begin: c.Freeze, end: c.Thaw, reasons: away, status: 503})
	})
	t.Run("connections cut", func(t *testing.T) {
		before := w.lines()
		for range 5 {
			must(t, c.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`))
			w.burst(t, 2)
		}
		w.agree(t)
		w.fewLines(t, before)
	})
	w.end(t)
}

// TestDatabaseAway stops PostgreSQL for long enough that the pauses between attempts
// reach their full length.
func TestDatabaseAway(t *testing.T) {
	longtest.Skip(t, "it breaks databases")
	t.Parallel()
	c := pgtest.NewCluster(t)
	w := newTrial(t, c.URL(), 2)
	w.endure(t, storeFault{
		begin: func() { must(t, c.Stop("fast")) }, end: func() { must(t, c.Start()) },
		reasons: []string{"does not answer", "broke", "shutting down"}, status: 503, lasts: 20 * time.Second,
	})
	w.end(t)
}

// TestDatabaseDiskFull fills the disk of the database; the log of PostgreSQL (WAL) is
// on another one.
func TestDatabaseDiskFull(t *testing.T) {
	longtest.Skip(t, "it fills a disk")
	t.Parallel()
	c := pgtest.NewCluster(t)
	disk := filepath.Join(c.Dir(), "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	smallDisk(t, disk)
	owner, err := os.Stat(c.Dir())
	if err != nil {
		t.Fatal(err)
	}
	space, filler := filepath.Join(disk, "space"), filepath.Join(disk, "filler")
	uid := int(owner.Sys().(*syscall.Stat_t).Uid)
	for _, err := range []error{
		os.Mkdir(space, 0o700), os.Chown(space, uid, -1),
		c.Exec("CREATE TABLESPACE small LOCATION '" + space + "'"), c.Exec("CREATE DATABASE small TABLESPACE small"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := newTrial(t, strings.Replace(c.URL(), "/test?", "/small?", 1), 2)
	w.endure(t, storeFault{
		begin: func() { fill(t, filler); w.burst(t, 12) }, // there may be space in the tables
		end: func() {
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
		},
		reasons:  []string{"disk is full"},
		readable: true,
		small:    true,
	})
	w.end(t)
}

// replicated returns the address of two servers, of which the one that takes writes
// is used.
func replicated(a, b *pgtest.Cluster) string {
	return fmt.Sprintf("postgres://postgres@%s,%s/test?sslmode=disable&target_session_attrs=read-write", a.Address(), b.Address())
}

// TestFailOver promotes a standby after its primary has ended, or while it hangs:
// it accepts connections and answers nothing.
func TestFailOver(t *testing.T) {
	longtest.Skip(t, "it breaks databases")
	for name, begin := range map[string]func(*testing.T, *pgtest.Cluster){
		"ended": func(t *testing.T, primary *pgtest.Cluster) {
			if err := primary.Stop("fast"); err != nil { // it sends everything to the standby
				t.Fatal(err)
			}
		},
		"hangs": func(_ *testing.T, primary *pgtest.Cluster) { primary.Freeze() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			primary := pgtest.NewCluster(t)
			standby := primary.Standby(t)
			w := newTrial(t, replicated(primary, standby), 2)
			w.endure(t, storeFault{
				begin: func() { begin(t, primary) },
				end: func() {
					if err := standby.Promote(); err != nil {
						t.Fatal(err)
					}
				},
				reasons: []string{"does not answer", "broke", "shutting down", "is read-only"}, status: 503,
			})
			w.end(t)
		})
	}
}
