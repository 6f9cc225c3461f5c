package bulk

import (
	"context"
	"errors"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// The first snapshot waits for the end of a back-fill, until the night after the store
// was created. What is made then says that it is partial, and a complete one is made
// when the back-fill has ended.
func TestBackfill(t *testing.T) {
	db := newStore(t, 20)
	head, err := db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	var load Load
	var broken error
	start := func(created time.Time) *Maker {
		m := newMaker(db, Dir(t.TempDir()))
		m.Created = created
		m.Loading = func(context.Context) (Load, error) { return load, broken }
		return m
	}
	check := func(m *Maker, name string, at time.Time, want bool) {
		t.Helper()
		if made, err := m.makeDue(t.Context(), at); err != nil || made != want {
			t.Errorf("%s: made %t, %v; want %t", name, made, err, want)
		}
	}
	snapshots := func(m *Maker) (partial []bool) {
		t.Helper()
		list, err := New(m.Archive.place, m.Logger).List(t.Context(), head)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			partial = append(partial, s.Partial)
		}
		return partial
	}

	add := func(nif string) {
		t.Helper()
		i := disclosure.Issuer{NIF: nif, Name: "OTRO NOMBRE, S.A.", Kind: disclosure.Company}
		if _, err := db.Append(t.Context(), store.Batch{Issuers: []disclosure.Issuer{i}}); err != nil {
			t.Fatal(err)
		}
	}

	night := lastNight(now)
	load.Running = true
	quick := start(night.Add(time.Minute))
	check(quick, "while the back-fill runs", now, false)
	broken = errors.New("the store does not answer")
	if made, err := quick.makeDue(t.Context(), now); made || !errors.Is(err, broken) {
		t.Errorf("without an answer: made %t, %v", made, err)
	}
	broken = nil
	load.Running = false
	check(quick, "after the back-fill", now, true)
	check(quick, "again", now, false)
	if got := snapshots(quick); len(got) != 1 || got[0] {
		t.Errorf("partial is %v, want one that is not", got)
	}
	load.Running = true
	check(quick, "while another back-fill runs", now, false)
	load = Load{EndedAt: time.Now().Add(-time.Hour)}
	check(quick, "after one that ended before", now, false)
	load = Load{EndedAt: time.Now().Add(time.Second)}
	add("A69000024")
	check(quick, "after another back-fill", now, true)
	load = Load{Running: true}

	slow := start(night.Add(-time.Minute))
	check(slow, "after the first night", now, true)
	check(slow, "again", now, false)
	if got := snapshots(slow); len(got) != 1 || !got[0] {
		t.Errorf("partial is %v, want one that is", got)
	}
	load.Running = false
	add("A69000016")
	check(slow, "at the end of the back-fill", time.Now(), true)
	check(slow, "again", time.Now(), false)
	if got := snapshots(slow); len(got) != 2 || got[0] || !got[1] {
		t.Errorf("partial is %v, want a complete one and then a partial one", got)
	}
}
