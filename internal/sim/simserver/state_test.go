package simserver_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/fault"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/market"
	"pregon/internal/sim/simserver"
)

func TestSameSeedSameMarket(t *testing.T) {
	ask := func(at time.Time) string {
		s := open(t, at, "")
		for range 20 {
			s.publish("")
		}
		return s.get("/_sim/filings?from=2020-10-20")
	}
	if a, b := ask(early), ask(early); a != b {
		t.Error("the same seed gives different markets")
	}
	old := open(t, early, "").get("/_sim/filings?to=2020-11-09")
	if later := open(t, early.AddDate(0, 0, 3), "").get("/_sim/filings?to=2020-11-09"); old != later {
		t.Error("a later start changes the history")
	}
}

func TestRestartContinues(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sim.jsonl")
	options := simserver.Options{Market: testMarket(), Seed: 1, File: file, Now: func() time.Time { return early }}
	first, err := simserver.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if _, err := first.Publish(archive.Draft{}); err != nil {
			t.Fatal(err)
		}
	}
	before, err := first.Publish(archive.Draft{Type: "oir", Title: "el último"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := simserver.Open(options); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "another process") {
		t.Errorf("two servers share a file: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(kept), `{"seed":1,"began":"2020-11-10T11:00:00Z"}`+"\n") {
		t.Errorf("%.200s", kept)
	}
	alone := open(t, early, "")
	for range 30 {
		alone.publish("")
	}
	alone.publish(`{"type":"oir","title":"el último"}`)
	want := alone.get("/_sim/filings?from=2020-11-01")

	// An incomplete last line was never served.
	torn := append(kept, `{"id":"oir-1","type":"OIR","cnmv_re`...)
	if err := os.WriteFile(file, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, early.AddDate(0, 0, 2), file)
	if !s.Began().Equal(early) {
		t.Errorf("began %v", s.Began())
	}
	if got := s.get("/_sim/filings?from=2020-11-01"); got != want {
		t.Errorf("a restart changes the market:\n%s\n%s", got[max(0, len(got)-2000):], want[max(0, len(want)-2000):])
	}
	after := s.publish(`{"type":"oir"}`)
	if r, err := alone.Publish(archive.Draft{Type: "oir"}); err != nil || r.ID != after.ID || r.Number != before.Number+1 {
		t.Errorf("%v %s comes after %s", r, after.ID, before.ID)
	}
	repaired, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(repaired), string(kept)+`{"id":"`+after.ID) {
		t.Errorf("the torn line is still there: %v", err)
	}
}

func TestFilesOfOthers(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		kind fault.Kind
	}{
		"seed":    {`{"seed":2,"began":"2020-11-10T11:00:00Z"}` + "\n", fault.Conflict},
		"alien":   {"hello\n", fault.Conflict},
		"broken":  {`{"seed":1,"began":"2020-11-10T11:00:00Z"}` + "\nx\n", fault.Internal},
		"no/such": {"", fault.Internal},
	} {
		file := filepath.Join(dir, name)
		if c.text != "" {
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := simserver.Open(simserver.Options{Market: testMarket(), Seed: 1, File: file})
		if err == nil || fault.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
		if kept, _ := os.ReadFile(file); string(kept) != c.text {
			t.Errorf("%s was changed to %q", name, kept)
		}
	}
	if _, err := simserver.Open(simserver.Options{}); fault.KindOf(err) != fault.Invalid {
		t.Error("no market is served")
	}
}

func TestTornHeaderStartsNewMarket(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sim.jsonl")
	if err := os.WriteFile(file, []byte(`{"seed":1,"beg`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := open(t, early, file); !s.Began().Equal(early) {
		t.Errorf("began %v", s.Began())
	}
}

func TestRunKeepsTheRate(t *testing.T) {
	m := market.New(1) // created outside the synctest bubble
	synctest.Test(t, func(t *testing.T) {
		s, err := simserver.Open(simserver.Options{Market: m, Seed: 1, Rate: 12})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := s.Run(ctx); err != nil {
			t.Fatal(err)
		}
		r, err := s.Publish(archive.Draft{Type: "oir"})
		if err != nil {
			t.Fatal(err)
		}
		if n := s.Published(); n < 600 || n > 850 {
			t.Errorf("%d reports in an hour, the last %s", n, r.ID)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestRunWithoutARate(t *testing.T) {
	s := open(t, early, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Server.Run(ctx); err != nil || s.Published() != 0 {
		t.Errorf("%v, %d", err, s.Published())
	}
}

func TestManyAtOnce(t *testing.T) {
	s := open(t, early, filepath.Join(t.TempDir(), "sim.jsonl"))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 15 {
				s.publish(`{"type":"oir"}`)
				s.get(oirList + "?dias=2")
				s.get(oirFeed)
				s.get("/_sim/filings?from=2020-11-09")
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, f := range s.reports("type=oir") {
		if seen[f.ID] {
			t.Errorf("%s was assigned twice", f.ID)
		}
		seen[f.ID] = true
	}
}
