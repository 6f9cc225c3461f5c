package relational

import (
	"context"

	"pregon/internal/store"
)

// recordTable is the SQL of a table of records.
type recordTable struct {
	head string // the table of the counter
	rows string // what to read from, with the columns kind, id, body and revision
	put  string // of id, body and revision, and of kind if it has that column
	kind bool   // it has the column kind
}

var (
	records = recordTable{
		head: `record_head`,
		rows: `record`,
		kind: true,
		put: `INSERT INTO record (id, body, revision, kind) VALUES ($1, $2, $3, $4)
			ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body, revision = excluded.revision`,
	}
	coverage = recordTable{
		head: `note_head`,
		rows: `(SELECT CAST('` + store.CoverageKind + `' AS text) AS kind,
			name AS id, text AS body, revision FROM note) AS note`,
		put: `INSERT INTO note (name, text, revision) VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE SET text = excluded.text, revision = excluded.revision`,
	}
)

func tableOf(kind string) recordTable {
	if kind == store.CoverageKind {
		return coverage
	}
	return records
}

// PutRecords locks the counter of the table before it reads anything, as Append
// does the head of the log. The log and the two tables do not wait for each
// other.
func (b *Base) PutRecords(
	ctx context.Context,
	lease *store.Lease,
	given ...store.Record,
) (result []store.Record, err error) {
	kind := store.CoverageKind
	if len(given) > 0 {
		kind = given[0].Kind
	}
	table := tableOf(kind)
	ids := make([]string, len(given))
	for i, r := range given {
		ids[i] = r.ID
	}
	err = b.update(ctx, "writing records", func(tx Tx) error {
		newest, err := b.lockHead(ctx, tx, table.head, `revision`)
		if err != nil {
			return err
		}
		if err := b.checkLease(ctx, tx, lease); err != nil {
			return err
		}
		known, err := readRecords(ctx, tx, table, `kind = $1 AND id `+b.SQL.In(`$2`), kind, ids)
		if err != nil {
			return err
		}
		var written []store.Record
		result, written, err = store.PlanRecords(given, store.RecordsByID(known), newest)
		if err != nil {
			return err
		}
		if len(written) == 0 {
			return errUnchanged
		}
		for _, r := range written {
			args := []any{r.ID, r.Body, r.Revision}
			if table.kind {
				args = append(args, r.Kind)
			}
			tx.Exec(ctx, table.put, args...)
		}
		tx.Exec(ctx, `UPDATE `+table.head+` SET revision = $1`, written[len(written)-1].Revision)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

func (b *Base) RecordsSince(ctx context.Context, kind string, revision int64) (found []store.Record, err error) {
	defer b.fail("reading records", &err)
	return readRecords(ctx, b, tableOf(kind), `kind = $1 AND revision > $2`, kind, revision)
}

// readRecords reads the records that meet a condition, in order of revision.
func readRecords(
	ctx context.Context,
	db DB,
	table recordTable,
	where string,
	args ...any,
) (found []store.Record, err error) {
	var r store.Record
	err = Each(ctx, db, []any{&r.Kind, &r.ID, &r.Body, &r.Revision}, func() error {
		found = append(found, r)
		return nil
	}, `SELECT kind, id, body, revision FROM `+table.rows+` WHERE `+where+` ORDER BY revision`, args...)
	return found, err
}
