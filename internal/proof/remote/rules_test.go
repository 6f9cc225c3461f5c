package remote_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pregon/internal/fault"
	"pregon/internal/proof/prooftest"
	"pregon/internal/proof/remote"
)

// TestEvidence: only a checkpoint that contradicts the history is evidence. Tiles and
// entries that are wrong may be an error of a cache.
func TestEvidence(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *prooftest.Server)
		kind   remote.Kind
		want   bool
	}{
		"another history": {func(s *prooftest.Server) { s.Rewrite(300, 700, "x") }, remote.Rewritten, true},
		"another key":     {func(s *prooftest.Server) { s.Seed = 2 }, remote.Signature, true},
		"a wrong tile":    {answer("/log/tile/0/002.p/88", flip), remote.Tiles, false},
		"a wrong entry": {func(s *prooftest.Server) {
			s.Entries = slices.Clone(s.Leaves)
			s.Entries[299] = prooftest.Change(300, "x")
		}, remote.Entry, false},
	} {
		s := prooftest.New(t, 500)
		c := newClient(t, s)
		c.ok()
		s.Grow(600, "")
		test.change(s)
		c.check.Entries = true
		m := c.wrong(test.kind)
		if string(m.Text) != string(s.Checkpoint()) {
			t.Errorf("%s: the signed text is %q, want the checkpoint of the server", name, m.Text)
		}
		if _, kept := c.files()[".conflict"]; kept != test.want || strings.Contains(m.Detail, "is kept in") != test.want {
			t.Errorf("%s: kept %v, want %v: %v", name, kept, test.want, m)
		}
	}
	// Without a history before there is nothing to contradict.
	s := prooftest.New(t, 500)
	c := newClient(t, s)
	s.Seed = 2
	c.wrong(remote.Signature)
	if files := c.files(); len(files) != 0 {
		t.Errorf("files were written: %v", files)
	}
	c.check.History = nil
	c.wrong(remote.Signature)
	// The key of the log under another name is not the log, for a client that knows no
	// other name of it.
	s.Seed = 1
	s.Origin = prooftest.Origin + "/k3v9x2m7"
	c.restart()
	if m := c.wrong(remote.Signature); !strings.Contains(m.Detail, "none of these is a known key") {
		t.Errorf("the error is %v", m)
	}
}

// TestStaleCheckpoint: a checkpoint that is too old is read five times before the log
// counts as one that went back.
func TestStaleCheckpoint(t *testing.T) {
	for behind, wrong := range map[int]bool{4: false, 5: true} {
		synctest.Test(t, func(t *testing.T) {
			s := prooftest.New(t, 600)
			c := newClient(t, s)
			c.ok()
			old := prooftest.New(t, 500).Checkpoint()
			reads := 0
			s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/log/checkpoint" {
					return false
				}
				if reads++; reads > behind {
					return false
				}
				_, _ = w.Write(old)
				return true
			}
			if !wrong {
				c.ok()
				return
			}
			c.wrong(remote.WentBack)
			if reads != 5 {
				t.Errorf("it was read %d times, want 5", reads)
			}
		})
	}
}

// TestTextsOfMismatches: each mismatch says what was signed, and where it begins.
func TestTextsOfMismatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			name   string
			change func(s *prooftest.Server)
			kind   remote.Kind
			want   []string
		}{
			{"rewritten", func(s *prooftest.Server) { s.Rewrite(300, 700, "x") }, remote.Rewritten, []string{"history was rewritten: 600 changes were signed before, and the present 700 do not continue them", "The first wrong seq is 300"}},
			{"split", func(s *prooftest.Server) { s.Rewrite(300, 600, "x") }, remote.Split, []string{"the log is split: two different histories of 600 changes were signed", "The first wrong seq is 300"}},
			{"back", func(s *prooftest.Server) { s.Rewrite(501, 500, "") }, remote.WentBack, []string{"the log went back: 600 changes were signed before, now there are 500; the first 500 are the same, the others are missing"}},
			{"restored", func(s *prooftest.Server) { s.Origin = prooftest.Origin + "/k3v9x2m7" }, remote.Restored, []string{"with 600 changes, and is now " + prooftest.Origin + "/k3v9x2m7 with 600", "all 600 that were signed before are still the same"}},
			{"another", func(s *prooftest.Server) { s.Origin, s.Seed = "other.example/log", 2 }, remote.OtherLog, []string{"another log: it was " + prooftest.Origin + ", and is now other.example/log; ", "is signed by other.example/log+"}},
			{"signature", func(s *prooftest.Server) { s.Seed = 2 }, remote.Signature, []string{"wrong signature: the checkpoint of " + prooftest.Origin + " is signed by"}},
			{"tiles", func(s *prooftest.Server) { s.Grow(601, ""); answer("/log/tile/0/002.p/89", flip)(s) }, remote.Tiles, []string{"wrong tiles: the server's own tiles contradict its checkpoint; tiles do not lead to its root"}},
		} {
			s := prooftest.New(t, 600)
			c := newClient(t, s)
			c.ok()
			test.change(s)
			m := c.wrong(test.kind)
			for _, want := range test.want {
				if !strings.Contains(m.Error(), want) {
					t.Errorf("%s: %v, want that it says %q", test.name, m, want)
				}
			}
			if strings.Contains(m.Error(), "; ;") || strings.Contains(m.Error(), ": ;") {
				t.Errorf("%s: %v", test.name, m)
			}
		}
		s := prooftest.New(t, 600)
		c := newClient(t, s)
		c.ok()
		if err := os.Remove(c.file + ".hashes"); err != nil {
			t.Fatal(err)
		}
		c.restart()
		s.Rewrite(300, 700, "x")
		if m := c.wrong(remote.Rewritten); !strings.Contains(m.Error(), "without "+c.file+".hashes the first wrong seq cannot be named exactly") || !strings.Contains(m.Error(), "one of 1 to 600") {
			t.Errorf("without hashes: %v", m)
		}
	})
}

// TestVerifyHistory: a checkpoint that was kept counts if one of the keys signed it.
// Without keys it is trusted.
func TestVerifyHistory(t *testing.T) {
	s := prooftest.New(t, 10)
	c := newClient(t, s)
	c.ok()
	h := c.check.History
	if h.Leaves() == nil || h.Leaves().Size() != 10 {
		t.Errorf("the leaves are %v", h.Leaves())
	}
	_, public := s.Keys()
	s.Seed = 2
	_, other := s.Keys()
	for name, test := range map[string]struct {
		keys remote.Keys
		want bool
	}{
		"no keys":      {nil, true},
		"its key":      {remote.Keys{public}, true},
		"one of two":   {remote.Keys{other, public}, true},
		"another key":  {remote.Keys{other}, false},
		"none of them": {remote.Keys{other, other}, false},
	} {
		if err := h.Verify(test.keys); (err == nil) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNumberOfKeys: a log has 1 to 16 keys.
func TestNumberOfKeys(t *testing.T) {
	_, public := prooftest.New(t, 1).Keys()
	for n, want := range map[int]bool{0: false, 1: true, 16: true, 17: false} {
		keys, err := remote.ParseKeys(strings.Repeat(public+"\n", n))
		if (err == nil) != want || want && len(keys) != n {
			t.Errorf("%d keys: %d, %v", n, len(keys), err)
		}
	}
}

// TestRedirectToHTTP: an answer is not taken without https from a server that has it.
func TestRedirectToHTTP(t *testing.T) {
	for scheme, want := range map[string]bool{"https": true, "http": false} {
		s := prooftest.New(t, 3)
		log, err := remote.New("https://example.org", "secret")
		if err != nil {
			t.Fatal(err)
		}
		log.Through(s)
		s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case r.URL.Path == "/log/vkey":
				http.Redirect(w, r, scheme+"://example.org/elsewhere", http.StatusFound)
				return true
			case r.URL.Path == "/elsewhere":
				_, public := s.Keys()
				_, _ = io.WriteString(w, public)
				return true
			}
			return false
		}
		if _, err := log.Keys(t.Context()); (err == nil) != want {
			t.Errorf("to %s: %v", scheme, err)
		}
	}
}

// TestMissingTile: a complete tile that is missing is asked for once: there is no larger
// one in its place.
func TestMissingTile(t *testing.T) {
	s := prooftest.New(t, 600)
	asked := 0
	s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/log/tile/0/001" {
			return false
		}
		asked++
		w.WriteHeader(http.StatusNotFound)
		return true
	}
	if err := failing(t, s); fault.KindOf(err) != fault.NotFound || asked != 1 {
		t.Errorf("%v after %d requests, want one", err, asked)
	}
}

// broken answers with a body that ends early.
type broken struct{ asked int }

func (b *broken) RoundTrip(r *http.Request) (*http.Response, error) {
	b.asked++
	body := io.MultiReader(strings.NewReader("half of"), errReader{})
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body), Request: r}, nil
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestIncompleteAnswer: half an answer is not used, and read again six times.
func TestIncompleteAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, err := remote.New("http://example.org", "")
		if err != nil {
			t.Fatal(err)
		}
		b := &broken{}
		log.Through(b)
		if text, err := log.Checkpoint(t.Context()); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "is incomplete") || text != nil || b.asked != 6 {
			t.Errorf("%q, %v after %d requests", text, err, b.asked)
		}
	})
}

// TestProgress: how much is read of hashes and entries is said.
func TestProgress(t *testing.T) {
	s := prooftest.New(t, 600)
	c := newClient(t, s)
	c.check.Entries = true
	last := map[string][2]int64{}
	c.check.Progress = func(stage string, done, total int64) { last[stage] = [2]int64{done, total} }
	c.ok()
	for _, stage := range []string{"hashes", "entries"} {
		if last[stage] != [2]int64{600, 600} {
			t.Errorf("%s: %v, want 600 of 600", stage, last[stage])
		}
	}
}

// TestProofOfALongEntry: an entry that is too long for its bundle is read from its
// proof, which must be one.
func TestProofOfALongEntry(t *testing.T) {
	for name, test := range map[string]struct {
		change func(string) string
		want   string
	}{
		"not a proof":     {func(string) string { return "<html>" }, "not JSON"},
		"another content": {func(text string) string { return strings.Replace(text, `"leaf":"`, `"leaf":"AAAA`, 1) }, "not the one that was signed"},
	} {
		s := prooftest.New(t, 2)
		s.Add([]byte(strings.Replace(string(prooftest.Change(3, "")), "ip-", strings.Repeat("x", 1<<16), 1)))
		answer("/api/v1/changes/3/proof", test.change)(s)
		c := newClient(t, s)
		c.check.Entries = true
		_, err := c.check.Check(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		m, wrong := errors.AsType[*remote.Mismatch](err)
		if wrong && (m.Kind != remote.Entry || m.First != 3) {
			t.Errorf("%s: %v", name, m)
		}
	}
}
