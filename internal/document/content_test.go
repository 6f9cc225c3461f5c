package document

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/test/waittest"
	"pregon/internal/text"
)

func matcher(t testing.TB, query string) *Matcher {
	t.Helper()
	m, err := NewMatcher(search.Parse(query))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMatcher(t *testing.T) {
	pages := []string{"La Junta aprobó el dividendo: 0,37 euros por", "", "acción. Telefónica, S.A. emite bonos convertibles " + strings.Repeat("x", 500)}
	content := NewContent(pages)
	for query, want := range map[string]bool{
		"dividendo": true, "DIVIDENDOS": true, "dividendo bono": true, "dividendo -bonos": false, "dividendo -deuda": true,
		`"por acción"`: true, `"accion por"`: false, `"el dividendo 0 37"`: true, `"dividendos"`: false, `-"junta aprobó" bonos`: false,
		"converti": true, "converti bonos": false, "junta telefonica": true, "sa": true, "fusión": false, "junta fusión": false,
		`"aprobo el dividendo" "por accion"`: true,
	} {
		if got := matcher(t, query).Match(content); got != want {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
		if matcher(t, query).Match(&Content{}) {
			t.Errorf("%s matches a document without words", query)
		}
	}
	for _, query := range []string{"", "-dividendo", `-"por acción"`, "¿?", words(40), strings.Repeat("x", 200)} {
		if _, err := NewMatcher(search.Parse(query)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: got error %v, want Invalid", query, err)
		}
	}
}

// words returns n different words.
func words(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " w%d", i)
	}
	return b.String()
}

// The words of random documents are found as by comparing them one after another.
func TestMatcherAgreesWithLoops(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	some := []string{
		"acta", "actas", "bono", "bonos", "canje", "de", "deuda", "en", "fondo", "junta", "bond", "issue", "emision",
	}
	pick := func() string { return some[random.IntN(len(some))] }
	for range 3000 {
		var page []string
		for range random.IntN(12) {
			page = append(page, pick())
		}
		query := pick()
		switch random.IntN(6) {
		case 5:
			query = "bond issue " + pick()
		case 0:
			query = fmt.Sprintf(`"%s %s"`, pick(), pick())
		case 1:
			query = fmt.Sprintf("%s -%s", pick(), pick())
		case 2:
			query = pick()[:2]
		case 3:
			query = fmt.Sprintf(`%s "%s %s %s"`, pick(), pick(), pick(), pick())
		}
		asked := search.ParseFilter(disclosure.Filter{Search: query, Widen: random.IntN(2) == 0})
		all, none := asked.Wanted()
		have := text.Words(strings.Join(page, " "))
		has := func(w search.Wanted) bool {
			for i := range have {
				if w.At(have[i:]) > 0 {
					return true
				}
			}
			return false
		}
		want := !slices.ContainsFunc(none, has) && !slices.ContainsFunc(all, func(w search.Wanted) bool { return !has(w) })
		m, err := NewMatcher(asked)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Match(NewContent([]string{strings.Join(page, " ")})); got != want {
			t.Fatalf("%s in %v: got %v, want %v", query, page, got, want)
		}
	}
}

// slowPages is a store that waits, and may fail.
type slowPages struct {
	pages   []string
	err     atomic.Pointer[error]
	release chan struct{}
	calls   atomic.Int64
}

func (s *slowPages) DocumentPages(ctx context.Context, sha256 ...string) (map[string][]string, error) {
	s.calls.Add(1)
	select {
	case <-s.release:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.err.Load(); err != nil {
		return nil, *err
	}
	if s.pages == nil {
		return nil, nil
	}
	return map[string][]string{sha256[0]: s.pages}, nil
}

// A text is loaded once for all callers, an error is not kept, and loading continues
// after a caller has given up.
func TestContents(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	s := &slowPages{pages: []string{"El dividendo"}, release: make(chan struct{})}
	contents := NewContents(s)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := contents.Get(gone, hash); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			c, err := contents.Get(t.Context(), hash)
			if err != nil || !matcher(t, "dividendo").Match(c) {
				t.Errorf("got %v, %v; want the text", c, err)
			}
		})
	}
	waittest.For(t, "the text is being loaded", func() bool { return s.calls.Load() > 0 })
	close(s.release)
	all.Wait()
	if got := s.calls.Load(); got != 1 {
		t.Errorf("got %d loads, want 1", got)
	}
	failure := errors.New("no store")
	s.err.Store(&failure)
	other := strings.Repeat("cd", 32)
	if _, err := contents.Get(t.Context(), other); !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}
	s.err.Store(nil)
	s.pages = nil
	if c, err := contents.Get(t.Context(), other); err != nil || matcher(t, "dividendo").Match(c) {
		t.Errorf("a document that is not stored: got %v, %v; want one without words", c, err)
	}
}

// The memory is bounded: old contents are loaded again.
func TestContentsAreBounded(t *testing.T) {
	s := &slowPages{pages: []string{strings.Repeat("palabra otra ", 10_000)}, release: make(chan struct{})}
	close(s.release)
	contents := NewContents(s)
	contents.limit = 600_000
	for i := range 12 { // of 80 kB
		if _, err := contents.Get(t.Context(), fmt.Sprintf("%064d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range []int{11, 0} {
		if _, err := contents.Get(t.Context(), fmt.Sprintf("%064d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.calls.Load(); got != 13 {
		t.Errorf("got %d loads, want 13: the newest is in memory, and the oldest is not", got)
	}
}
