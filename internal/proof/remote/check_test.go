package remote_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/proof"
	"pregon/internal/proof/prooftest"
	"pregon/internal/proof/remote"
)

// TestGrowingLog: a log that only grows is right at every size, and only the tiles
// are read that the client does not have.
func TestGrowingLog(t *testing.T) {
	s := prooftest.New(t, 0)
	c := newClient(t, s)
	last := 0
	for _, size := range []int{0, 0, 1, 2, 255, 256, 257, 511, 512, 513, 1000, 1000, 66_000, 66_001} {
		s.Grow(size, "")
		s.Paths = nil
		result := c.ok()
		if result.Checkpoint.Size != int64(size) || result.Before.Size != int64(last) {
			t.Errorf("%d after %d changes: the result is %+v", size, last, result)
		}
		files := c.files()
		if files[""] != string(s.Checkpoint()) {
			t.Errorf("%d changes: the file is\n%s", size, files[""])
		}
		if got := len(files[".hashes"]); got != size*tlog.HashSize {
			t.Errorf("%d changes: there are %d bytes of hashes", size, got)
		}
		if most := (size-last)/proof.TileWidth*2 + 9; len(s.Paths) > most {
			t.Errorf("%d after %d changes: %d requests, want %d at most", size, last, len(s.Paths), most)
		}
		if last = size; size%2 == 0 {
			c.restart()
		}
	}
	var want []byte
	for _, leaf := range s.Leaves {
		h := tlog.RecordHash(leaf)
		want = append(want, h[:]...)
	}
	if c.files()[".hashes"] != string(want) {
		t.Error("the hashes are not those of the leaves")
	}
}

// TestRewrittenLog: the first wrong seq is named, wherever it is.
func TestRewrittenLog(t *testing.T) {
	for _, seq := range []int{1, 2, 100, 255, 256, 257, 258, 599, 600} {
		for _, size := range []int{600, 601, 1100} {
			s := prooftest.New(t, 600)
			c := newClient(t, s)
			c.ok()
			s.Rewrite(seq, size, "x")
			c.restart()
			kind := remote.Rewritten
			if size == 600 {
				kind = remote.Split
			}
			if m := c.wrong(kind); m.First != int64(seq) || m.Last != int64(seq) {
				t.Errorf("rewritten from %d on, with %d changes: %v", seq, size, m)
			}
			if c.files()[".conflict"] != string(s.Checkpoint()) {
				t.Errorf("the evidence is %q", c.files()[".conflict"])
			}
		}
	}
}

// TestDroppedAndReorderedChanges: a fresh tree over other changes, as after tampering
// with the store.
func TestDroppedAndReorderedChanges(t *testing.T) {
	for name, tamper := range map[string]func(leaves [][]byte) [][]byte{
		"dropped":   func(l [][]byte) [][]byte { return append(l[:299:299], l[300:]...) },
		"reordered": func(l [][]byte) [][]byte { l[299], l[300] = l[300], l[299]; return l },
		"inserted":  func(l [][]byte) [][]byte { return append(append(l[:299:299], prooftest.Change(300, "x")), l[299:]...) },
		"one byte":  func(l [][]byte) [][]byte { l[299] = prooftest.Change(300, "x"); return l },
	} {
		s := prooftest.New(t, 600)
		c := newClient(t, s)
		c.ok()
		leaves := tamper(s.Leaves)
		s.Leaves, s.Tree = nil, &proof.Tree{}
		for _, leaf := range leaves {
			s.Add(leaf)
		}
		s.Grow(700, "")
		if m := c.wrong(remote.Rewritten); m.First != 300 || m.Last != 300 {
			t.Errorf("%s: %v", name, m)
		}
	}
}

// TestCheckpointAlone: a checkpoint that was downloaded is sufficient to notice that
// history was rewritten.
func TestCheckpointAlone(t *testing.T) {
	s := prooftest.New(t, 600)
	c := newClient(t, s)
	if err := os.WriteFile(c.file, s.Checkpoint(), 0o600); err != nil {
		t.Fatal(err)
	}
	c.restart()
	s.Rewrite(300, 700, "x")
	m := c.wrong(remote.Rewritten)
	if m.First != 1 || m.Last != 600 || !strings.Contains(m.Error(), "one of 1 to 600") {
		t.Errorf("the error is %v", m)
	}
	s.Rewrite(300, 600, "")
	if _, err := os.Stat(c.file + ".hashes"); err == nil {
		t.Error("hashes were written before the log was right")
	}
	if result := c.ok(); result.Before.Size != 600 {
		t.Errorf("the result is %+v", result)
	}
	s.Rewrite(300, 700, "x")
	if m := c.wrong(remote.Rewritten); m.First != 300 || m.Last != 300 {
		t.Errorf("with hashes the error is %v", m)
	}
}

func TestLogThatWentBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := prooftest.New(t, 600)
		c := newClient(t, s)
		c.ok()
		s.Rewrite(501, 500, "")
		m := c.wrong(remote.WentBack)
		if m.First != 501 || m.Last != 501 || !strings.Contains(m.Error(), "the others are missing") {
			t.Errorf("the error is %v", m)
		}
		s.Rewrite(301, 500, "x")
		if m = c.wrong(remote.Split); m.First != 301 || m.Last != 301 {
			t.Errorf("the error is %v", m)
		}
		if err := os.Remove(c.file + ".hashes"); err != nil {
			t.Fatal(err)
		}
		c.restart()
		if m = c.wrong(remote.WentBack); m.First != 1 || m.Last != 501 {
			t.Errorf("without hashes the error is %v", m)
		}
	})
}

// TestContradictionWithoutTiles: a server that signs a contradiction and refuses the
// tiles, and every further checkpoint, is convicted by its first checkpoint.
func TestContradictionWithoutTiles(t *testing.T) {
	for name, test := range map[string]struct {
		from, size int
		kind       remote.Kind
		hashes     bool
		last       int64
	}{
		"same size":                 {300, 600, remote.Split, true, 600},
		"same size, without hashes": {300, 600, remote.Split, false, 600},
		"shorter and other":         {300, 500, remote.Split, true, 500},
		"shorter":                   {501, 500, remote.WentBack, true, 501},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := prooftest.New(t, 600)
				c := newClient(t, s)
				c.ok()
				if !test.hashes {
					if err := os.Remove(c.file + ".hashes"); err != nil {
						t.Fatal(err)
					}
					c.restart()
				}
				s.Rewrite(test.from, test.size, "x")
				reads := 0
				s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path == "/log/checkpoint" {
						if reads++; reads == 1 || test.kind == remote.WentBack {
							return false
						}
					}
					http.Error(w, "busy", http.StatusServiceUnavailable)
					return true
				}
				if m := c.wrong(test.kind); m.First != 1 || m.Last != test.last {
					t.Errorf("the error is %v", m)
				}
				if c.files()[".conflict"] != string(s.Checkpoint()) {
					t.Errorf("the evidence is %q", c.files()[".conflict"])
				}
			})
		})
	}
}

// TestReplicaThatIsBehind: an older checkpoint is no error if a newer one follows
// soon.
func TestReplicaThatIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := prooftest.New(t, 600)
		c := newClient(t, s)
		c.ok()
		behind := prooftest.New(t, 500)
		reads := 0
		s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/log/checkpoint" {
				return false
			}
			if reads++; reads < 3 {
				_, _ = w.Write(behind.Checkpoint())
				return true
			}
			return false
		}
		c.ok()
		if reads != 3 {
			t.Errorf("the checkpoint was read %d times", reads)
		}
	})
}

// TestRestoredLog: after an older copy was restored, the log has another name, with
// the same key.
func TestRestoredLog(t *testing.T) {
	for name, want := range map[string]struct {
		from, size int
		first      int64
	}{
		"shorter":      {501, 500, 501},
		"other":        {501, 700, 501},
		"same so far":  {601, 700, 0},
		"older change": {301, 500, 301},
	} {
		s := prooftest.New(t, 600)
		c := newClient(t, s)
		c.ok()
		s.Origin = prooftest.Origin + "/k3v9x2m7"
		s.Rewrite(want.from, want.size, "x")
		m := c.wrong(remote.Restored)
		if m.First != want.first || m.Last != want.first || !strings.Contains(m.Error(), "restored") {
			t.Errorf("%s: %v", name, m)
		}
		if c.files()[".conflict"] != string(s.Checkpoint()) {
			t.Errorf("%s: the evidence is %q", name, c.files()[".conflict"])
		}
		// A client that knows both names notices it too.
		_, public := s.Keys()
		c.keys = append(c.keys, public)
		c.restart()
		if m := c.wrong(remote.Restored); m.First != want.first {
			t.Errorf("%s, with the new key: %v", name, m)
		}
	}
}

func TestOtherLogsAndSignatures(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *prooftest.Server)
		kind   remote.Kind
	}{
		"another log":                  {func(s *prooftest.Server) { s.Origin, s.Seed = "other.example/log", 2 }, remote.OtherLog},
		"another log with the key":     {func(s *prooftest.Server) { s.Origin = "other.example/log" }, remote.OtherLog},
		"restored, with another key":   {func(s *prooftest.Server) { s.Origin, s.Seed = prooftest.Origin+"/e2", 2 }, remote.OtherLog},
		"another key":                  {func(s *prooftest.Server) { s.Seed = 2 }, remote.Signature},
		"not signed":                   {answer("/log/checkpoint", func(text string) string { return text[:strings.Index(text, "—")] }), remote.Signature},
		"changed after it was signed":  {answer("/log/checkpoint", func(text string) string { return strings.Replace(text, "\n600\n", "\n601\n", 1) }), remote.Signature},
		"no checkpoint":                {answer("/log/checkpoint", func(string) string { return "<html>" }), remote.Signature},
		"empty":                        {answer("/log/checkpoint", func(string) string { return "" }), remote.Signature},
		"tile with another hash":       {answer("/log/tile/0/002.p/88", flip), remote.Tiles},
		"upper tile with another hash": {answer("/log/tile/1/000.p/2", flip), remote.Tiles},
		"short tile":                   {answer("/log/tile/0/002.p/88", func(text string) string { return text[32:] }), remote.Tiles},
		"empty tile":                   {answer("/log/tile/0/002.p/88", func(string) string { return "" }), remote.Tiles},
	} {
		t.Run(name, func(t *testing.T) {
			s := prooftest.New(t, 500)
			c := newClient(t, s)
			c.ok()
			s.Grow(600, "")
			test.change(s)
			if m := c.wrong(test.kind); m.First != 0 && test.kind != remote.OtherLog {
				t.Errorf("the error names a seq: %v", m)
			}
		})
	}
}

// answer changes the answers to a path.
func answer(path string, change func(text string) string) func(s *prooftest.Server) {
	return func(s *prooftest.Server) {
		s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			recorded := httptest.NewRecorder()
			s.Answer(recorded, r)
			fmt.Fprint(w, change(recorded.Body.String()))
			return true
		}
	}
}

func flip(text string) string { return text[:5] + string([]byte{text[5] ^ 1}) + text[6:] }

// TestNewLogIsChecked: without a history the tiles must lead to the root too.
func TestNewLogIsChecked(t *testing.T) {
	s := prooftest.New(t, 600)
	c := newClient(t, s)
	answer("/log/tile/0/001", flip)(s)
	c.wrong(remote.Tiles)
	if files := c.files(); len(files) != 0 {
		t.Errorf("files were written: %v", files)
	}
	s.Intrude = nil
	c.check.History = nil
	if result := c.ok(); result.Checkpoint.Size != 600 || result.Before.Origin != "" {
		t.Errorf("the result is %+v", result)
	}
}

func TestReplacedKeys(t *testing.T) {
	s := prooftest.New(t, 10)
	c := newClient(t, s)
	c.ok()
	old, _ := s.Keys()
	s.Seed = 2
	s.Grow(20, "")
	signer, public := s.Keys()
	s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/log/checkpoint" {
			return false
		}
		root, _ := s.Tree.Root(20)
		text, err := proof.Checkpoint{Origin: prooftest.Origin, Size: 20, Root: root}.Sign(old, signer)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(text)
		return true
	}
	result := c.ok()
	if len(result.Unknown) != 1 || !strings.HasPrefix(public, result.Unknown[0]+"+") {
		t.Errorf("unknown keys are %q, want that of %s", result.Unknown, public)
	}
	c.keys = append(c.keys, public)
	c.restart()
	if result := c.ok(); len(result.Unknown) != 0 || c.files()[".vkey"] != c.keys.String()+"\n" {
		t.Errorf("unknown keys are %q, pinned ones %q", result.Unknown, c.files()[".vkey"])
	}
	s.Intrude = nil // the old key is removed
	s.Grow(30, "")
	c.ok()
}
