package verify_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document/index"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/storetest"
	"pregon/internal/verify"
)

func openSQLite(t *testing.T) *world {
	t.Helper()
	return worlds["sqlite"](t)
}

// finds reports whether there is a finding of a kind at a place.
func finds(found []verify.Finding, kind verify.Kind, where string) bool {
	return slices.ContainsFunc(found, func(f verify.Finding) bool { return f.Kind == kind && strings.Contains(f.Where, where) })
}

// TestMoreDamage: what is wrong with a store is named.
func TestMoreDamage(t *testing.T) {
	for _, test := range []struct {
		name  string
		sql   string
		kind  verify.Kind
		where string
		text  string
	}{
		{"no counter of the log", `DELETE FROM log_head`, verify.LogHead, "log_head", "missing"},
		{"past that cannot be read", `UPDATE log_head SET past = 'nonsense'`, verify.LogHead, "log_head", "no valid epoch"},
		{"hashes beyond the log", `UPDATE log_head SET leaves = 99`, verify.LogHead, "change 99", "it is hashed, but change 8 is the newest"},
		{
			"a change before the first", `INSERT INTO change (seq, event, subject, occurred_at, changed, body)
				SELECT 0, event, subject, occurred_at, changed, body FROM change WHERE seq = 1`, verify.LogGap, "change 0", "begins with change 1",
		},
		{"an issuer without a name", `UPDATE change SET body = replace(body, 'Uno', '') WHERE seq = 1`, verify.LogRow, "change 1 (A00000001)", "name"},
		{"an issuer with another spelling", `UPDATE change SET body = replace(body, 'A00000001', 'a00000001') WHERE seq = 1`, verify.LogRow, "change 1 (A00000001)", `must be written "A00000001"`},
		{"no counter of records", `DELETE FROM record_head`, verify.Record, "record_head", "missing"},
		{"a record without a revision", `UPDATE record SET revision = 0 WHERE id = 'wh_1'`, verify.Record, "webhook wh_1", "the revision 0"},
		{"an unknown source", `INSERT INTO setting (name, value) VALUES ('source', 'mars') ON CONFLICT (name) DO UPDATE SET value = 'mars'`, verify.Setting, "setting source", `"mars"`},
		{"a day that does not exist", `UPDATE use_count SET day = '2026-02-30'`, verify.Usage, "2026-02-30", "not possible"},
		{"a count of none", `UPDATE use_count SET n = 0`, verify.Usage, "list by ana", "number 0"},
		{"bytes without a hash", `UPDATE original SET sha256 = 'nonsense' WHERE sha256 = '` + first + `'`, verify.Bytes, "document nonsense", "SHA-256"},
		{"a segment with another number of documents", `UPDATE word_segment SET documents = documents + 1`, verify.Segment, "segment", "and its head"},
		{"a text without a hash", `UPDATE document SET sha256 = 'nonsense' WHERE sha256 = '` + first + `'`, verify.TextBroken, `document "nonsense"`, "not a SHA-256"},
		{"fanned out below zero", `UPDATE fanned SET seq = -1`, verify.Fanned, "fanned", "-1"},
		{"never fanned out", `DELETE FROM fanned`, verify.Fanned, "fanned", "up to change 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := openSQLite(t)
			w.fill()
			w.must(w.raw(test.sql))
			_, found := w.check()
			if !slices.ContainsFunc(found, func(f verify.Finding) bool {
				return f.Kind == test.kind && strings.Contains(f.Where, test.where) && strings.Contains(f.Text, test.text)
			}) {
				t.Errorf("got findings %v, want a %s at %s that says %q", found, test.kind, test.where, test.text)
			}
		})
	}
}

// TestPossibleValues: values at the edge of what is possible are no findings.
func TestPossibleValues(t *testing.T) {
	for name, sql := range map[string]string{
		"the simulator":     `INSERT INTO setting (name, value) VALUES ('source', 'demo') ON CONFLICT (name) DO UPDATE SET value = 'demo'`,
		"the regulator":     `INSERT INTO setting (name, value) VALUES ('source', 'cnmv') ON CONFLICT (name) DO UPDATE SET value = 'cnmv'`,
		"another setting":   `INSERT INTO setting (name, value) VALUES ('x', 'mars')`,
		"fanned out so far": `UPDATE fanned SET seq = 0`,
		"a removed record":  `UPDATE record SET body = '' WHERE id = 'wh_1'`,
		"a count of one":    `UPDATE use_count SET n = 1`,
	} {
		w := openSQLite(t)
		w.fill()
		w.must(w.raw(sql))
		if _, found := w.check(); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// TestPagesOfTheLog: changes are compared with those before them across the pages in
// which the log is read.
func TestPagesOfTheLog(t *testing.T) {
	w := openSQLite(t)
	w.fill()
	b := store.Batch{}
	for n := range 2100 {
		b.Reports = append(b.Reports, disclosure.Report{
			ID:          fmt.Sprintf("oir-%d", 100+n),
			Type:        disclosure.OIR,
			Number:      int64(100 + n),
			CompanyName: "ALMAZARA FICTICIA, S.A.",
			Title:       "Acuerdo",
			PublishedAt: time.Now().UTC().Truncate(time.Second),
			TimeFrom:    disclosure.FromFeed,
		})
	}
	w.append(b)
	for n := range 2 {
		w.append(store.Batch{Aside: []disclosure.Report{{ID: "oir-2", Type: disclosure.OIR, Number: 2, Title: fmt.Sprintf("Otro acuerdo %d", n)}}})
	}
	w.append(store.Batch{Issuers: []disclosure.Issuer{{ID: "A00000001", Name: "Uno Dos"}}})
	if _, found := w.check(); len(found) > 0 {
		t.Fatalf("findings of a store that only the program wrote: %v", found)
	}
	head, err := w.db.Head(t.Context())
	w.must(err)
	w.must(w.raw(fmt.Sprintf(`UPDATE change SET changed = 'name,ticker' WHERE seq = %d`, head.Seq)))
	if _, found := w.check(); !finds(found, verify.LogStep, fmt.Sprintf("change %d", head.Seq)) {
		t.Errorf("a change that does not follow from one of an earlier page is not found: %v", found)
	}
	// A change that cannot be decoded is found once, and nothing is compared with it.
	w = openSQLite(t)
	w.fill()
	w.must(w.raw(`UPDATE change SET body = '{' WHERE seq = 6`))
	if _, found := w.check(); !finds(found, verify.LogRow, "change 6 (oir-1)") || finds(found, verify.LogStep, "") {
		t.Errorf("got findings %v, want that change 6 cannot be decoded and no step", found)
	}
}

// TestPagesOfDocuments: all bytes are compared with their hashes, page by page.
func TestPagesOfDocuments(t *testing.T) {
	w := openSQLite(t)
	last := ""
	for n := range 450 {
		body := fmt.Sprintf("document %d", n)
		w.must(w.db.PutOriginal(t.Context(), hashOf(body), []byte(body)))
		last = max(last, hashOf(body))
	}
	var done, total int64
	c := verify.New(w.db, verify.Options{Progress: func(what string, d, n int64) {
		if what == "reading documents" {
			done = d
			total = n
		}
	}})
	w.must(c.Run(t.Context()))
	if done != 450 || total != 450 || len(c.Counts()) != 0 {
		t.Errorf("read %d of %d documents, findings %v", done, total, c.Counts())
	}
	w.must(w.raw(`UPDATE original SET body = x'00' WHERE sha256 = '` + last + `'`))
	if _, found := w.check(); !finds(found, verify.Bytes, last) || len(found) != 1 {
		t.Errorf("got findings %v, want the last document", found)
	}
}

// TestUnreadableParts: a part that cannot be read to the end is a finding, the other
// parts are checked, and a log that was not read to its end is not repaired.
func TestUnreadableParts(t *testing.T) {
	for part, tables := range map[string][]string{
		"log":       {"log_head", "leaf", "change", "report", "issuer", "position", "sealed_name", "filed_document", "fanned", "attempt", "delivery", "endpoint"},
		"records":   {"record", "record_head", "note", "note_head", "use_count", "use_mark", "once", "setting", "lease"},
		"texts":     {"document"},
		"originals": {"original"},
		"words":     {"word_segment", "document"},
	} {
		for _, table := range tables {
			w := openSQLite(t)
			w.fill()
			w.must(w.raw(`UPDATE report SET seq = 3 WHERE id = 'oir-2'`)) // to be repaired
			w.must(w.raw(`ALTER TABLE ` + table + ` RENAME TO hidden`))
			c, found := w.check()
			if !finds(found, verify.Unreadable, part) {
				t.Errorf("without the table %s: %v, want that the %s cannot be read", table, found, part)
			}
			if part == "log" && finds(found, verify.Unreadable, "originals") {
				t.Errorf("without the table %s the originals are not read: %v", table, found)
			}
			if table != "change" && table != "leaf" && table != "log_head" {
				continue
			}
			w.repair(c)
			w.must(w.raw(`ALTER TABLE hidden RENAME TO ` + table))
			if _, found := w.check(); !finds(found, verify.Pointer, "report oir-2") {
				t.Errorf("a store was repaired by a log that could not be read: %v", found)
			}
		}
	}
}

// TestStoreDoesNotAnswer: a store that cannot be reached is a failure and not a finding.
func TestStoreDoesNotAnswer(t *testing.T) {
	w := openSQLite(t)
	w.fill()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := verify.New(w.db, verify.Options{})
	if err := c.Run(ctx); !errors.Is(err, context.Canceled) || len(c.Counts()) > 0 {
		t.Errorf("for a request that has ended: %v, %v", err, c.Counts())
	}
	for _, test := range []struct {
		name string
		err  error
		want bool // it is a finding
	}{
		{"a store that cannot be reached", fault.New(fault.Unavailable, "no answer"), false},
		{"a damaged file", fault.Wrap(fault.Unavailable, store.ErrDamaged, "damaged"), true},
		{"data that cannot be", fault.New(fault.Internal, "impossible"), true},
	} {
		w := openSQLite(t)
		w.fill()
		w.db.Relational().Failed = func(string, error) error { return test.err }
		w.must(w.raw(`ALTER TABLE original RENAME TO hidden`))
		c := verify.New(w.db, verify.Options{})
		err := c.Run(t.Context())
		if found := c.Counts()[verify.Unreadable] > 0; found != test.want || (err == nil) != test.want {
			t.Errorf("%s: %v, findings %v", test.name, err, c.Counts())
		}
	}
}

// TestMost: at most so many findings of a kind are passed on, and all are counted.
func TestMost(t *testing.T) {
	w := openSQLite(t)
	w.fill()
	w.must(w.raw(`DELETE FROM report`))
	for most, want := range map[int]int{0: 3, 1: 1, 2: 2, 3: 3, 4: 3} {
		passed := 0
		c := verify.New(w.db, verify.Options{Most: most, Found: func(f verify.Finding) {
			if f.Kind == verify.Pointer {
				passed++
			}
		}})
		w.must(c.Run(t.Context()))
		if passed != want || c.Counts()[verify.Pointer] != 3 {
			t.Errorf("with Most %d: %d passed, %d counted; want %d and 3", most, passed, c.Counts()[verify.Pointer], want)
		}
	}
}

// originals is a bucket whose answers a test gives.
type originals map[string]error

func (o originals) Original(_ context.Context, sha256 string) ([]byte, error) { return nil, o[sha256] }

// TestBucket: documents that the bucket does not have, or that are damaged there, are
// findings. A bucket that does not answer is a failure.
func TestBucket(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		kind verify.Kind // empty: no finding
		want bool        // Run succeeds
	}{
		{"it has them", nil, "", true},
		{"it lacks one", fault.New(fault.NotFound, "gone"), verify.NoBytes, true},
		{"one is damaged", fault.Wrap(fault.Internal, store.ErrDamaged, "damaged"), verify.Bytes, true},
		{"it does not answer", fault.New(fault.Unavailable, "no answer"), "", false},
	} {
		w := openSQLite(t)
		w.fill()
		var done, total int64
		c := verify.New(w.db, verify.Options{
			Originals: originals{second: test.err},
			Progress: func(what string, d, n int64) {
				if what == "reading the bucket" {
					done = d
					total = n
				}
			},
		})
		err := c.Run(t.Context())
		if (err == nil) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
		if counts := c.Counts(); test.kind == "" && len(counts) > 0 || test.kind != "" && counts[test.kind] != 1 {
			t.Errorf("%s: findings %v, want %q", test.name, counts, test.kind)
		}
		if test.want && (done != 2 || total != 2) {
			t.Errorf("%s: %d of %d were read", test.name, done, total)
		}
	}
}

// TestTextWithoutALink: a text that cannot be fetched again is not repaired.
func TestTextWithoutALink(t *testing.T) {
	const body = "texto sin enlace"
	for name, damage := range map[string]struct {
		sql  string
		kind verify.Kind
	}{
		"missing": {`DELETE FROM document_text WHERE document = (SELECT number FROM document WHERE sha256 = '` + hashOf(body) + `')`, verify.TextMissing},
		"broken":  {`UPDATE document_text SET head = '{' WHERE document = (SELECT number FROM document WHERE sha256 = '` + hashOf(body) + `')`, verify.TextBroken},
	} {
		w := openSQLite(t)
		w.fill()
		w.append(store.Batch{Reports: []disclosure.Report{{
			ID:          "oir-7",
			Type:        disclosure.OIR,
			Number:      7,
			CompanyName: "X",
			Title:       "T",
			PublishedAt: time.Now().UTC().Truncate(time.Second),
		}}})
		w.document(7, body)
		w.must(w.raw(damage.sql))
		c, found := w.check()
		if !slices.ContainsFunc(found, func(f verify.Finding) bool { return f.Kind == damage.kind && !f.Repairable }) {
			t.Errorf("%s: got findings %v, want a %s that cannot be repaired", name, found, damage.kind)
		}
		if damage.kind == verify.TextMissing && !strings.Contains(found[0].Text, "no link from which to fetch it") {
			t.Errorf("%s: %s", name, found[0].Text)
		}
		w.repair(c)
		if _, left := w.check(); !finds(left, damage.kind, "") {
			t.Errorf("%s: after the repair: %v", name, left)
		}
	}
}

// TestChangesBeforeTheRepair: what was appended after the store was checked counts in
// the repair.
func TestChangesBeforeTheRepair(t *testing.T) {
	w := openSQLite(t)
	w.fill()
	w.must(w.raw(`UPDATE report SET seq = 3 WHERE id = 'oir-1'`))
	w.must(w.raw(`DELETE FROM filed_document WHERE report = 'oir-2'`))
	c, _ := w.check()
	w.must(w.raw(`UPDATE report SET seq = 8 WHERE id = 'oir-1'`)) // so that it can be changed
	w.append(store.Batch{Aside: []disclosure.Report{{ID: "oir-1", Type: disclosure.OIR, Number: 1, Title: "Otro acuerdo"}}})
	w.document(2, "otro texto")
	w.repair(c)
	storetest.Verify(t, w.db)
	reports, err := w.db.Reports(t.Context(), "oir-1")
	if err != nil || len(reports) != 1 || reports[0].Title != "Otro acuerdo" {
		t.Errorf("the report is %+v, %v", reports, err)
	}
}

// TestRepairNeedsTheLease: every step is held, and nothing is repaired without it. What
// cannot be written is a failure.
func TestRepairNeedsTheLease(t *testing.T) {
	errHeld := errors.New("another process reads the source")
	for name, sql := range map[string]string{
		"pointers": `DELETE FROM report WHERE id = 'oir-2'`,
		"filed":    `DELETE FROM filed_document WHERE report = 'oir-1'`,
		"leaves":   `DELETE FROM leaf`,
		"texts":    `DELETE FROM document_text`,
		"broken":   `UPDATE document_text SET head = '{'`,
		"attempts": `DELETE FROM delivery`,
		"endpoint": `DELETE FROM endpoint`,
		"fanned":   `UPDATE fanned SET seq = 99`,
		"words":    `DELETE FROM word_block`,
		"heads":    `UPDATE word_segment SET head = x'ff'`,
	} {
		w := openSQLite(t)
		w.fill()
		w.must(w.raw(sql))
		c, before := w.check()
		if err := c.Repair(t.Context(), func(context.Context) (*store.Lease, error) { return nil, errHeld }); !errors.Is(err, errHeld) {
			t.Errorf("%s: %v, want that the lease is needed", name, err)
		}
		if _, after := w.check(); !slices.Equal(before, after) {
			t.Errorf("%s: without the lease %v became %v", name, before, after)
		}
		c, _ = w.check()
		w.db.Close()
		if err := c.Repair(t.Context(), func(context.Context) (*store.Lease, error) { return &store.Lease{}, nil }); err == nil {
			t.Errorf("%s: a store that is closed was repaired", name)
		}
	}
}

// TestWordsOfOtherSegments: only the documents of a damaged segment are indexed again. If
// its documents are not known, all are.
func TestWordsOfOtherSegments(t *testing.T) {
	for _, test := range []struct {
		name string
		sql  string
		want []string
	}{
		{"a block is lost", `DELETE FROM word_block WHERE id = (SELECT max(id) FROM word_block)`, []string{hashOf("palabras del tercero")}},
		{"a head is damaged", `UPDATE word_segment SET head = x'ff' WHERE id = (SELECT max(id) FROM word_segment)`, []string{first, second, hashOf("palabras del tercero")}},
		{"nothing is damaged", `SELECT 1`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := openSQLite(t)
			w.fill()
			w.document(3, "palabras del tercero")
			w.must((&index.Keeper{Store: w.db, Holder: "test", Logger: slog.New(slog.DiscardHandler)}).Settle(t.Context()))
			w.must(w.raw(test.sql))
			c, _ := w.check()
			w.repair(c)
			missing, err := w.db.Unindexed(t.Context(), 10)
			w.must(err)
			if len(missing) != len(test.want) {
				t.Errorf("%d documents are to be indexed, want those of %v", len(missing), test.want)
			}
			w.must((&index.Keeper{Store: w.db, Holder: "test", Logger: slog.New(slog.DiscardHandler)}).Settle(t.Context()))
			storetest.Verify(t, w.db)
		})
	}
}

// TestTimesOfTheLog: a time before the program existed, after now or with nanoseconds is
// not one that the program wrote.
func TestTimesOfTheLog(t *testing.T) {
	for _, test := range []struct {
		name string
		at   time.Time
		want bool
	}{
		{"before the program", time.Date(2019, 12, 31, 23, 59, 59, 0, time.UTC), false},
		{"the first moment", time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), true},
		{"a clock that is ahead", time.Now().Add(50 * time.Minute), true},
		{"a clock that is far ahead", time.Now().Add(70 * time.Minute), false},
	} {
		w := openSQLite(t)
		w.fill()
		w.must(w.raw(fmt.Sprintf(`UPDATE change SET occurred_at = %d WHERE seq = 1`, test.at.UnixMicro())))
		if _, found := w.check(); finds(found, verify.LogTime, "change 1") == test.want {
			t.Errorf("%s: got findings %v, want that it is possible: %v", test.name, found, test.want)
		}
	}
}

// TestChangedHashesAreNotRepaired: where a change differs from its hash, missing hashes
// are not added: the change would then be hashed as it is.
func TestChangedHashesAreNotRepaired(t *testing.T) {
	w := openSQLite(t)
	w.fill()
	w.append(store.Batch{Aside: []disclosure.Report{{ID: "oir-2", Type: disclosure.OIR, Number: 2, Title: "Otro"}}})
	w.must(w.raw(`UPDATE change SET body = replace(body, 'Acuerdo', 'acuerdo') WHERE seq = 5`))
	w.must(w.raw(`DELETE FROM leaf WHERE seq = (SELECT max(seq) FROM leaf)`))
	c, before := w.check()
	w.repair(c)
	_, after := w.check()
	if !finds(before, verify.LogHash, "change 5") || !finds(after, verify.LogHash, "change 5") || !finds(after, verify.LogLeaf, "change 9") {
		t.Errorf("got findings %v, then %v", before, after)
	}
}

// TestTextThatIsStillUsed: a broken text that a report without a link has is kept, and
// one that no report has is removed.
func TestTextThatIsStillUsed(t *testing.T) {
	w := openSQLite(t)
	w.fill()
	const unused = "texto que nadie tiene"
	w.must(w.db.PutDocument(t.Context(), store.Document{
		SHA256: hashOf(unused),
		Bytes:  int64(len(unused)),
		Head:   `{"edition":2,"pages":[{"method":"text"}]}`,
		Pages:  []string{unused},
		Index:  index.Build(hashOf(unused), []string{unused}),
	}))
	w.must(w.raw(`UPDATE document_text SET head = '{' WHERE document = (SELECT number FROM document WHERE sha256 = '` + hashOf(unused) + `')`))
	c, found := w.check()
	if !slices.ContainsFunc(found, func(f verify.Finding) bool { return f.Kind == verify.TextBroken && f.Repairable }) {
		t.Errorf("got findings %v, want a broken text", found)
	}
	w.repair(c)
	if _, left := w.check(); finds(left, verify.TextBroken, "") {
		t.Errorf("after the repair: %v", left)
	}
}

// TestChangesBeforeTheFirst: a change before the first is one finding, and no gap up to
// the first.
func TestChangesBeforeTheFirst(t *testing.T) {
	w := openSQLite(t)
	w.fill()
	w.must(w.raw(`INSERT INTO change (seq, event, subject, occurred_at, changed, body)
		SELECT -5, event, subject, occurred_at, changed, body FROM change WHERE seq = 2`))
	_, found := w.check()
	gaps := slices.DeleteFunc(found, func(f verify.Finding) bool { return f.Kind != verify.LogGap })
	if len(gaps) != 1 || gaps[0].Where != "change -5" {
		t.Errorf("got gaps %v, want change -5", gaps)
	}
}

// TestSeveralOrphans: all endpoints without a webhook are removed, and all deliveries
// without an endpoint get one.
func TestSeveralOrphans(t *testing.T) {
	w := openSQLite(t)
	w.fill()
	for _, id := range []string{"wh_7", "wh_8", "wh_9"} {
		w.must(w.raw(`INSERT INTO endpoint (webhook) VALUES ('` + id + `')`))
	}
	w.must(w.raw(`DELETE FROM endpoint WHERE webhook = 'wh_1'`))
	c, _ := w.check()
	if counts := c.Counts(); counts[verify.OrphanEndpoint] != 3 || counts[verify.NoEndpoint] != 1 {
		t.Errorf("got findings %v", counts)
	}
	w.repair(c)
	storetest.Verify(t, w.db)
}
