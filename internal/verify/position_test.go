package verify_test

import (
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/storetest"
	"pregon/internal/verify"
)

// fillPositions appends changes 9 to 12 to those of fill: two dealings of natural persons, a
// short position of a legal person, and the erasure of the second name.
func (w *world) fillPositions() {
	w.Helper()
	w.fill()
	dealing := func(number, name string) disclosure.Position {
		return disclosure.Position{
			ID:           "dealing-" + number,
			Kind:         disclosure.Dealing,
			Name:         name,
			Natural:      true,
			Number:       number,
			RegisteredOn: "2026-10-01",
		}
	}
	w.append(store.Batch{Positions: []disclosure.Position{
		dealing("1", "Elena Ruiz Salvatierra"),
		dealing("2", "Marta Gil Olmedo"),
		{
			ID:      "short-es0100000001-2026-10-02-1",
			Kind:    disclosure.Short,
			Name:    "ATALAYA CAPITAL LLP",
			ISIN:    "ES0100000001",
			Date:    "2026-10-02",
			Percent: "0.49",
			State:   disclosure.StateCurrent,
		},
	}})
	_, err := w.db.EraseNames(w.Context(), nil, "dealing-2")
	w.must(err)
}

// replaced are the statements that replace a text in the row of a change.
func replaced(seq, before, after string) (postgres, sqlite string) {
	return `UPDATE change SET body = replace(CAST(body AS text), '` + before + `', '` + after + `')::json WHERE seq = ` + seq,
		`UPDATE change SET body = replace(body, '` + before + `', '` + after + `') WHERE seq = ` + seq
}

// TestDamagedPositions is like TestDamage for positions and the names beside the log.
func TestDamagedPositions(t *testing.T) {
	const short = "change 11 (short-es0100000001-2026-10-02-1)"
	kept := `(SELECT body ->> 'holder_sealed' FROM change WHERE seq = 9)`
	erased := `SELECT body ->> 'holder_sealed', salt, 'Marta Gil Olmedo' FROM change, sealed_name WHERE seq = 10`
	damages := []damage{
		{name: "percent", kind: verify.LogHash, where: short},
		{name: "name of a legal person", kind: verify.LogHash, where: short},
		{name: "seal", kind: verify.LogHash, where: "change 9 (dealing-1)", others: []verify.Kind{verify.Name}},
		{name: "name in the log", kind: verify.LogHash, where: "change 9 (dealing-1)", others: []verify.Kind{verify.Name, verify.LogRow}},
		{name: "not erased", kind: verify.LogStep, where: "change 12 (dealing-2)", others: []verify.Kind{verify.LogHash, verify.Name}},
		{name: "name missing", sql: `DELETE FROM sealed_name`, kind: verify.Name, where: "position dealing-1"},
		{name: "another name", sql: `UPDATE sealed_name SET name = 'Elena Ruiz'`, kind: verify.Name, where: "seal "},
		{name: "another salt", sql: `UPDATE sealed_name SET salt = '\x00'`, sqlite: `UPDATE sealed_name SET salt = x'00'`, kind: verify.Name, where: "seal "},
		{name: "another seal", sql: `UPDATE sealed_name SET sealed = '00' || substr(sealed, 3) WHERE sealed = ` + kept, kind: verify.Name, where: "position dealing-1"},
		{name: "erased name", sql: `INSERT INTO sealed_name (sealed, salt, name) ` + erased, kind: verify.NameKept, where: "seal ", repaired: true},
		{name: "pointer missing", sql: `DELETE FROM position WHERE id = 'dealing-1'`, kind: verify.Pointer, where: "position dealing-1", repaired: true},
		{name: "pointer behind", sql: `UPDATE position SET seq = 10 WHERE id = 'dealing-2'`, kind: verify.Pointer, where: "position dealing-2", repaired: true},
		{name: "pointer too many", sql: `INSERT INTO position (id, seq) VALUES ('dealing-9', 10)`, kind: verify.Pointer, where: "position dealing-9", repaired: true},
		{name: "event", sql: `UPDATE change SET event = 'position.updated' WHERE seq = 9`, kind: verify.LogStep, where: "change 9 (dealing-1)", others: []verify.Kind{verify.LogHash}},
		{name: "subject", sql: `UPDATE change SET subject = 'dealing-9' WHERE seq = 9`, kind: verify.LogSubject, where: "change 9 (dealing-9)"},
		{name: "gap", sql: `DELETE FROM change WHERE seq = 12`, kind: verify.LogGap, where: "change", others: []verify.Kind{verify.Pointer, verify.Name, verify.File}},
	}
	damages[0].sql, damages[0].sqlite = replaced("11", `"0.49"`, `"0.59"`)
	damages[1].sql, damages[1].sqlite = replaced("11", `ATALAYA`, `OTRA`)
	damages[2].sql, damages[2].sqlite = replaced("9", `"holder_sealed":"`, `"holder_sealed":"00`)
	damages[3].sql, damages[3].sqlite = replaced("9", `"natural":true`, `"holder":"Elena Ruiz Salvatierra","natural":true`)
	damages[4].sql, damages[4].sqlite = replaced("12", `,"holder_erased":true`, ``)
	engines(t, func(w *world) {
		w.fillPositions()
		storetest.Verify(w.T, w.db)
	})
	for name, open := range worlds {
		for _, d := range damages {
			t.Run(name+"/"+d.name, func(t *testing.T) {
				t.Parallel()
				w := open(t)
				w.fillPositions()
				w.damaged(d)
			})
		}
	}
}
