package verify_test

import (
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/verify"
)

// damage is something that is wrong with a store.
type damage struct {
	name     string
	sql      string
	sqlite   string // in place of sql
	kind     verify.Kind
	where    string // a part of where it is
	repaired bool
	others   []verify.Kind // that follow from it
	only     string        // engine
}

var first, second = hashOf("texto número 1 con palabras"), hashOf("texto número 2 con palabras")

var damages = []damage{
	// The log.
	{name: "gap", sql: `DELETE FROM change WHERE seq = 4`, kind: verify.LogGap, where: "change 4", others: []verify.Kind{verify.Pointer, verify.LogStep, verify.File}},
	{name: "lost end", sql: `UPDATE log_head SET seq = 10`, kind: verify.LogGap, where: "changes 9 to 10"},
	{name: "head behind", sql: `UPDATE log_head SET seq = 7`, kind: verify.LogHead, where: "change 8", others: []verify.Kind{verify.Fanned}},
	{name: "epoch", sql: `UPDATE log_head SET epoch = ''`, kind: verify.LogHead, where: "log_head"},
	{name: "undecodable", sql: `UPDATE change SET body = '{"id": 5}' WHERE seq = 5`, kind: verify.LogRow, where: "change 5 (oir-3)", others: []verify.Kind{verify.LogHash}},
	{
		name: "invalid", sql: `UPDATE change SET body = replace(CAST(body AS text), 'Acuerdo', '')::json WHERE seq = 5`,
		sqlite: `UPDATE change SET body = replace(body, 'Acuerdo', '') WHERE seq = 5`, kind: verify.LogRow, where: "change 5 (oir-3)", others: []verify.Kind{verify.LogHash},
	},
	{name: "subject", sql: `UPDATE change SET subject = 'oir-9' WHERE seq = 5`, kind: verify.LogSubject, where: "change 5 (oir-9)"},
	{name: "event", sql: `UPDATE change SET event = 'report.updated' WHERE seq = 5`, kind: verify.LogStep, where: "change 5 (oir-3)", others: []verify.Kind{verify.LogHash}},
	{name: "changed", sql: `UPDATE change SET changed = 'title' WHERE seq = 8`, kind: verify.LogStep, where: "change 8 (oir-1)", others: []verify.Kind{verify.LogHash}},
	{
		name: "time", sql: `UPDATE change SET occurred_at = '2090-01-01' WHERE seq = 1`,
		sqlite: `UPDATE change SET occurred_at = 3786912000000000 WHERE seq = 1`, kind: verify.LogTime, where: "change 1 (A00000001)", others: []verify.Kind{verify.LogHash},
	},
	// Its hashes. A row that an attacker changes without a contradiction is found by them alone.
	{
		name: "one byte", sql: `UPDATE change SET body = replace(CAST(body AS text), 'Acuerdo', 'acuerdo')::json WHERE seq = 5`,
		sqlite: `UPDATE change SET body = replace(body, 'Acuerdo', 'acuerdo') WHERE seq = 5`, kind: verify.LogHash, where: "change 5 (oir-3)",
	},
	{name: "a microsecond", sql: `UPDATE change SET occurred_at = occurred_at + interval '1 microsecond' WHERE seq = 8`, sqlite: `UPDATE change SET occurred_at = occurred_at + 1 WHERE seq = 8`, kind: verify.LogHash, where: "change 8 (oir-1)"},
	{name: "hashes lost", sql: `DELETE FROM leaf WHERE seq = (SELECT min(seq) FROM leaf)`, kind: verify.LogLeaf, where: "change", repaired: true},
	{name: "last hashes lost", sql: `DELETE FROM leaf WHERE seq = (SELECT max(seq) FROM leaf)`, kind: verify.LogLeaf, where: "change 8", repaired: true},
	{name: "hashes damaged", sql: `UPDATE leaf SET hashes = '\x0102' WHERE seq = (SELECT min(seq) FROM leaf)`, sqlite: `UPDATE leaf SET hashes = x'0102' WHERE seq = (SELECT min(seq) FROM leaf)`, kind: verify.LogLeaf, where: "change", repaired: true},
	{name: "counter of hashes", sql: `UPDATE log_head SET leaves = 3`, kind: verify.LogLeaf, where: "changes 4 to 8", repaired: true},
	// What is derived from it.
	{name: "pointer behind", sql: `UPDATE report SET seq = 3 WHERE id = 'oir-1'`, kind: verify.Pointer, where: "report oir-1", repaired: true},
	{name: "pointer missing", sql: `DELETE FROM report WHERE id = 'oir-2'`, kind: verify.Pointer, where: "report oir-2", repaired: true},
	{name: "pointer too many", sql: `INSERT INTO report (id, seq) VALUES ('oir-77', 3)`, kind: verify.Pointer, where: "report oir-77", repaired: true},
	{name: "issuer missing", sql: `DELETE FROM issuer WHERE id = 'A00000002'`, kind: verify.Pointer, where: "issuer A00000002", repaired: true},
	{name: "filed missing", sql: `DELETE FROM filed_document WHERE report = 'oir-1'`, kind: verify.Filed, where: "report oir-1", repaired: true},
	{
		name: "filed wrong", sql: `UPDATE filed_document SET sha256 = '` + second + `' WHERE report = 'oir-1'`,
		sqlite: `UPDATE filed_document SET document = (SELECT number FROM document WHERE sha256 = '` + second + `') WHERE report = 'oir-1'`,
		kind:   verify.Filed, where: "report oir-1", repaired: true,
	},
	{
		name: "filed too many", sql: `INSERT INTO filed_document (report, sha256) VALUES ('oir-3', '` + first + `')`,
		sqlite: `INSERT INTO filed_document (report, document) SELECT 'oir-3', number FROM document WHERE sha256 = '` + first + `'`,
		kind:   verify.Filed, where: "report oir-3", repaired: true,
	},
	// Deliveries.
	{name: "fanned", sql: `UPDATE fanned SET seq = 99`, kind: verify.Fanned, where: "fanned", repaired: true},
	{
		name: "fanned to alerts", sql: `UPDATE fanned_alerts SET seq = 99`, kind: verify.Fanned,
		where: "fanned_alerts", repaired: true,
	},
	{name: "attempt", sql: `DELETE FROM delivery`, kind: verify.Attempt, where: "change 3 to wh_1", repaired: true},
	{name: "endpoint", sql: `DELETE FROM endpoint`, kind: verify.NoEndpoint, where: "webhook wh_1", repaired: true},
	{name: "orphan", sql: `INSERT INTO endpoint (webhook) VALUES ('wh_9')`, kind: verify.OrphanEndpoint, where: "webhook wh_9", repaired: true},
	{name: "delivery of no change", sql: `UPDATE delivery SET seq = 50`, kind: verify.Delivery, where: "change 50 to wh_1", others: []verify.Kind{verify.Attempt}},
	{name: "delivery without a time", sql: `UPDATE delivery SET state = 'pending'`, kind: verify.Delivery, where: "change 3 to wh_1"},
	{name: "delivery of another event", sql: `UPDATE delivery SET event = 'report.updated'`, kind: verify.Delivery, where: "change 3 to wh_1"},
	// Records and what is beside them.
	{name: "revision", sql: `UPDATE record SET revision = 70 WHERE id = 'wh_1'`, kind: verify.Record, where: "webhook wh_1"},
	{name: "record", sql: `UPDATE record SET body = '{' WHERE id = 'wh_1'`, kind: verify.Record, where: "webhook wh_1"},
	{name: "same revision", sql: `INSERT INTO record (kind, id, body, revision) VALUES ('key', 'k', '{}', 1)`, kind: verify.Record, where: " "},
	{name: "note", sql: `UPDATE note SET revision = 70`, kind: verify.Record, where: "coverage day"},
	{name: "count", sql: `UPDATE use_count SET n = -1`, kind: verify.Usage, where: "list by ana"},
	{name: "use", sql: `UPDATE use_mark SET first_at = '2090-01-01'`, sqlite: `UPDATE use_mark SET first_at = 3786912000000000`, kind: verify.Usage, where: "use of ana"},
	{name: "nonce", sql: `UPDATE once SET until = '2090-01-01'`, sqlite: `UPDATE once SET until = 3786912000000000`, kind: verify.Usage, where: "nonce counts batch"},
	{name: "setting", sql: `UPDATE setting SET value = 'yesterday' WHERE name = 'created_at'`, kind: verify.Setting, where: "created_at"},
	{name: "lease", sql: `UPDATE lease SET term = 0`, kind: verify.Setting, where: "lease other"},
	// Documents.
	{
		name: "text missing", sql: `DELETE FROM document WHERE sha256 = '` + first + `'`,
		sqlite: `DELETE FROM document_text WHERE document = (SELECT number FROM document WHERE sha256 = '` + first + `')`,
		kind:   verify.TextMissing, where: "report oir-1", repaired: true,
	},
	{
		name: "text broken", sql: `UPDATE document SET head = '{' WHERE sha256 = '` + first + `'`,
		sqlite: `UPDATE document_text SET head = '{' WHERE document = (SELECT number FROM document WHERE sha256 = '` + first + `')`,
		kind:   verify.TextBroken, where: first, repaired: true,
	},
	{
		name: "pages lost", sql: `UPDATE document SET pages = '{}' WHERE sha256 = '` + second + `'`,
		sqlite: `UPDATE document_text SET pages = '[]' WHERE document = (SELECT number FROM document WHERE sha256 = '` + second + `')`,
		kind:   verify.TextBroken, where: second, repaired: true,
	},
	{
		name: "bytes", sql: `UPDATE original SET body = '\x00' WHERE sha256 = '` + first + `'`,
		sqlite: `UPDATE original SET body = x'00' WHERE sha256 = '` + first + `'`, kind: verify.Bytes, where: first,
	},
	{name: "evidence missing", sql: `DELETE FROM original WHERE sha256 = '` + hashOf(evidenceOf(1)) + `'`, kind: verify.NoEvidence, where: "report oir-1"},
	// The index of words.
	{name: "block missing", sql: `DELETE FROM word_block WHERE id = (SELECT min(id) FROM word_block)`, kind: verify.Segment, where: "segment", repaired: true},
	{name: "block damaged", sql: `UPDATE word_block SET body = '\x010203'`, sqlite: `UPDATE word_block SET body = x'010203'`, kind: verify.Segment, where: "segment", repaired: true},
	{
		name: "head damaged", sql: `UPDATE word_segment SET head = '\xff'`, sqlite: `UPDATE word_segment SET head = x'ff'`,
		kind: verify.Segment, where: "segment", repaired: true, others: []verify.Kind{verify.NotFound},
	},
	{name: "segment missing", sql: `DELETE FROM word_segment WHERE id = (SELECT min(id) FROM word_segment)`, kind: verify.NotFound, where: "document", repaired: true},
	// The file.
	{
		name: "references", only: "sqlite", sql: `INSERT INTO report (id, seq) VALUES ('oir-78', 999)`, kind: verify.File, where: "table report",
		others: []verify.Kind{verify.Pointer}, repaired: true,
	},
}

// TestDamage: each damage is found, and repaired if that is possible. Nothing else
// is found, and the log is never changed, but for a text that is to be fetched again.
func TestDamage(t *testing.T) {
	for name, open := range worlds {
		for _, d := range damages {
			if d.only != "" && d.only != name {
				continue
			}
			t.Run(name+"/"+d.name, func(t *testing.T) {
				t.Parallel()
				w := open(t)
				w.fill()
				w.damaged(d)
			})
		}
	}
}

func (w *world) damaged(d damage) {
	w.Helper()
	before, err := w.db.Changes(w.Context(), 0, 100)
	w.must(err)
	statement := d.sql
	if w.engine == "sqlite" && d.sqlite != "" {
		statement = d.sqlite
	}
	w.must(w.raw(statement))
	c, found := w.check()
	named := slices.ContainsFunc(found, func(f verify.Finding) bool {
		return f.Kind == d.kind && strings.Contains(f.Where, d.where) && (d.kind == verify.File || f.Repairable == d.repaired)
	})
	if !named {
		w.Errorf("got findings %v, want a %s at %s, repairable: %v", found, d.kind, d.where, d.repaired)
	}
	for _, f := range found {
		if f.Kind != d.kind && !slices.Contains(d.others, f.Kind) {
			w.Errorf("got also %v", f)
		}
	}
	w.repair(c)
	_, left := w.check()
	if d.repaired && len(left) > 0 {
		w.Errorf("after the repair: %v", left)
	}
	if !d.repaired {
		if !slices.ContainsFunc(left, func(f verify.Finding) bool { return f.Kind == d.kind }) {
			w.Errorf("after the repair the %s is gone: %v", d.kind, left)
		}
		return
	}
	after, err := w.db.Changes(w.Context(), 0, 100)
	w.must(err)
	if len(after) < len(before) || !slices.EqualFunc(before, after[:len(before)], func(a, b disclosure.Change) bool { return a.Mark() == b.Mark() }) {
		w.Errorf("the log changed: %v, then %v", before, after)
	}
}
