package clone_test

import (
	"context"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/clone"
	"pregon/internal/store/engine"
)

// exec writes to a store behind its back.
func exec(t *testing.T, db engine.Store, statement string) {
	t.Helper()
	must(t, db.Relational().Exec(t.Context(), statement))
}

// The mark of a copy decides whether a store may be used: only a complete copy may, and
// then it is no longer one.
func TestMarks(t *testing.T) {
	const (
		copying  = `{"state":"copying","epoch":"e","seq":0,"run":"r"}`
		behind   = `{"state":"behind","epoch":"e","seq":7,"run":"r"}`
		complete = `{"state":"complete","epoch":"e","seq":7,"run":"r"}`
	)
	for _, test := range []struct {
		name         string
		mark         string
		admit, check string // a part of the error; empty: allowed
		kept         bool   // after Admit
	}{
		{"no copy", "", "", "", false},
		{"an incomplete copy", copying, "not complete", "not complete", true},
		{"a copy of a store in use", behind, "as of change 7", "", true},
		{"a complete copy", complete, "", "", false},
		{"a mark that cannot be read", "{", "cannot be read", "cannot be read", true},
	} {
		db := openCopy(t, newStore["sqlite"](t))
		if test.mark != "" {
			exec(t, db, `INSERT INTO setting (name, value) VALUES ('copy', '`+test.mark+`')`)
		}
		says := func(call string, err error, want string) {
			t.Helper()
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, %s: %v, want %q", test.name, call, err, want)
			}
		}
		says("Check", clone.Check(t.Context(), db.Relational()), test.check)
		says("Admit", clone.Admit(t.Context(), db.Relational()), test.admit)
		again := test.admit
		if !test.kept {
			again = ""
		}
		says("Admit again", clone.Admit(t.Context(), db.Relational()), again)
		if test.mark == "{" {
			says("Release", clone.Release(t.Context(), db.Relational()), "cannot be read")
			continue
		}
		says("Release", clone.Release(t.Context(), db.Relational()), "")
		says("Admit after Release", clone.Admit(t.Context(), db.Relational()), "")
	}
}

// A target whose log is not a part of the source's is not overwritten, also if it is
// marked as a copy.
func TestLogOfTheTargetDiffers(t *testing.T) {
	for _, test := range []struct {
		name   string
		target string
		source string
		want   string
	}{
		{"another change", `UPDATE change SET body = replace(body, 'Título', 'Otro') WHERE seq = 3`, "", "has other changes than the source's"},
		{"one change more", `INSERT INTO change (seq, event, subject, occurred_at, changed, body)
			SELECT 99, event, subject, occurred_at, changed, body FROM change WHERE seq = 3`, "", "has changes that the source lacks"},
	} {
		from, to := newStore["sqlite"](t), newStore["sqlite"](t)
		source := open(t, from)
		fill(t, source, 1)
		mustCopy(t, from, to)
		exec(t, openCopy(t, to), test.target)
		if _, err := copyStore(t, from, to, nil); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// A target that has a counter or a row of its own is not empty.
func TestNotEmpty(t *testing.T) {
	from := newStore["sqlite"](t)
	fill(t, open(t, from), 1)
	for _, statement := range []string{
		`UPDATE log_head SET seq = 5`,
		`UPDATE record_head SET revision = 5`,
		`UPDATE fanned SET seq = 5`,
		`INSERT INTO use_count (owner, day, operation, n) VALUES ('ana', '2026-03-04', 'list', 1)`,
		`INSERT INTO endpoint (webhook) VALUES ('wh_1')`,
	} {
		to := newStore["sqlite"](t)
		exec(t, openCopy(t, to), statement)
		if _, err := copyStore(t, from, to, nil); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "is not empty") {
			t.Errorf("%s: %v, want that it is not empty", statement, err)
		}
	}
}

// A copy whose source gets another epoch meanwhile fails, and one of many changes has
// several rounds.
func TestRounds(t *testing.T) {
	for _, renewed := range []bool{false, true} {
		from, to := newStore["sqlite"](t), newStore["sqlite"](t)
		source := open(t, from)
		b := store.Batch{}
		for n := range int64(5100) {
			r := report(n + 1)
			r.Document = disclosure.Document{}
			b.Reports = append(b.Reports, r)
		}
		_, err := source.Append(t.Context(), b)
		must(t, err)
		rounds := 0
		_, err = copyStore(t, from, to, func(round int, done, _ int64) {
			rounds = max(rounds, round)
			if renewed && round == 1 && done == 1 {
				_, err := source.RenewEpoch(t.Context(), head(t, source).Epoch, disclosure.Mark{})
				must(t, err)
			}
		})
		if renewed {
			if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "was renewed during the copy") {
				t.Errorf("the epoch was renewed: %v", err)
			}
			continue
		}
		if err != nil || rounds != 2 {
			t.Errorf("%d rounds, %v; want 2", rounds, err)
		}
		checkSame(t, source, open(t, to))
	}
}

// A row of the target that changes while it is copied to is found in the end.
func TestTargetIsVerified(t *testing.T) {
	from, to := newStore["sqlite"](t), newStore["sqlite"](t)
	source := open(t, from)
	fill(t, source, 1)
	target := openCopy(t, to)
	_, err := copyStore(t, from, to, func(_ int, done, rows int64) {
		if done == rows {
			exec(t, target, `UPDATE change SET body = replace(body, 'Título', 'Otro') WHERE seq = 3`)
		}
	})
	if fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "differs from the source in change") {
		t.Errorf("%v, want that the target differs", err)
	}
	if err := clone.Admit(t.Context(), target.Relational()); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a copy that differs may be used: %v", err)
	}
}

// A copy that cannot be read or written to the end is not complete.
func TestCopyFails(t *testing.T) {
	for _, test := range []struct {
		name           string
		source, target string // the table that is missing
	}{
		{"the log of the source", "change", ""},
		{"the head of the source", "log_head", ""},
		{"the leases of the source", "lease", ""},
		{"the settings of the target", "", "setting"},
		{"a table of the target", "", "record"},
		{"the last table of the source", "word_block", ""},
	} {
		from, to := newStore["sqlite"](t), newStore["sqlite"](t)
		source := open(t, from)
		fill(t, source, 1)
		target := openCopy(t, to)
		if test.source != "" {
			exec(t, source, `ALTER TABLE `+test.source+` RENAME TO hidden`)
		}
		if test.target != "" {
			exec(t, target, `ALTER TABLE `+test.target+` RENAME TO hidden`)
		}
		result, err := clone.Copy(t.Context(), clone.Options{
			From:       source,
			To:         target,
			FromSQLite: true,
			ToSQLite:   true,
			Progress:   func(int, int64, int64) {},
		})
		if err == nil {
			t.Errorf("without %s: %+v", test.name, result)
		}
		if test.target == "setting" {
			continue
		}
		if test.target != "" {
			exec(t, target, `ALTER TABLE hidden RENAME TO `+test.target)
		}
		if err := clone.Admit(t.Context(), target.Relational()); test.source != "log_head" && test.target == "" && fault.KindOf(err) != fault.Conflict {
			t.Errorf("without %s the copy may be used: %v", test.name, err)
		}
	}
	from, to := newStore["sqlite"](t), newStore["sqlite"](t)
	source := open(t, from)
	fill(t, source, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := clone.Copy(ctx, clone.Options{From: source, To: openCopy(t, to), FromSQLite: true, ToSQLite: true}); err == nil {
		t.Error("a copy for a request that has ended succeeded")
	}
}

// A complete copy whose mark cannot be removed is not used: the next process would take
// it for a copy that nobody uses.
func TestMarkThatStays(t *testing.T) {
	from, to := newStore["sqlite"](t), newStore["sqlite"](t)
	fill(t, open(t, from), 1)
	result := mustCopy(t, from, to)
	if again := mustCopy(t, from, to); result.Rows == 0 || again.Rows != result.Rows {
		t.Errorf("the copy has %d rows, and then %d", result.Rows, again.Rows)
	}
	target := openCopy(t, to)
	exec(t, target, `CREATE TRIGGER stays BEFORE DELETE ON setting BEGIN SELECT RAISE(ABORT, 'it stays'); END`)
	if err := clone.Admit(t.Context(), target.Relational()); err == nil {
		t.Error("a copy whose mark stays may be used")
	}
	if err := clone.Release(t.Context(), target.Relational()); err == nil {
		t.Error("a copy whose mark stays is released")
	}
	exec(t, target, `DROP TRIGGER stays`)
	must(t, clone.Admit(t.Context(), target.Relational()))
}
