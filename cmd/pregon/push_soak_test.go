package main_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"pregon/internal/waittest"
)

var soak = flag.Duration("soak", 0, "how long TestPushSoak plays, such as 10m; 0 skips it")

// TestPushSoak is TestPushAgrees at ten times the peak, for as long as -soak
// says, with a source that fails at times, processes that freeze or cannot reach
// the source, and a store file that is moved away for a while.
func TestPushSoak(t *testing.T) {
	if *soak <= 0 {
		t.Skip("-soak 10m runs it")
	}
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play := pushPlay{lasts: *soak, every: 100 * time.Millisecond, kills: 20 * time.Second, moreHarm: harms, faults: []string{
				`{"kind":"error500","surface":"feed","share":0.5,"for":"1h"}`,
				`{"kind":"reset","surface":"feed","type":"oir","share":0.5,"for":"1h"}`,
				`{"kind":"stall","surface":"feed","share":0.3,"by":"700ms","for":"1h"}`,
				`{"kind":"error500","surface":"list","share":0.5,"for":"1h"}`,
				`{"kind":"truncate","surface":"permalink","share":0.5,"for":"1h"}`,
				`{"kind":"errorpage","surface":"permalink","share":0.3,"for":"1h"}`,
				`{"kind":"error403","surface":"all","share":0.1,"for":"1h"}`,
				`{"kind":"silent","surface":"feed","type":"oir","for":"1h"}`,
				`{"kind":"frozen","surface":"feed","for":"1h"}`,
			}}
			play.run(t, newStore(t), map[string]int{"sqlite": 1, "postgres": 2}[name], 10*time.Minute)
		})
	}
}

// harms returns faults of a replica other than a kill.
func harms(f *fleet) []func(i int) error {
	all := []func(int) error{f.freeze, f.goBlind}
	if path, ok := strings.CutPrefix(f.spec, "sqlite:"); ok {
		all = append(all, func(int) error { return takeAway(path) })
	}
	return all
}

// freeze stops a serve for longer than its lease and claims last, and lets it
// continue.
func (f *fleet) freeze(i int) error {
	f.mu.Lock()
	s := f.serves[i]
	f.mu.Unlock()
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	waittest.Pace(context.Background(), 12*time.Second)
	return s.cmd.Process.Signal(syscall.SIGCONT)
}

// goBlind disconnects a replica from the source until it releases the lease to
// another.
func (f *fleet) goBlind(i int) error {
	f.sights[i].blind.Store(true)
	defer f.sights[i].blind.Store(false)
	waittest.Pace(context.Background(), 50*time.Second)
	return nil
}

// takeAway moves the file of a store away for a while.
func takeAway(path string) error {
	if err := os.Rename(path, path+".away"); err != nil {
		return err
	}
	waittest.Pace(context.Background(), 5*time.Second)
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s was created again while it was moved away", path)
	}
	return os.Rename(path+".away", path)
}
