package relational

import "context"

// Relational returns the base of an engine, for packages that read or repair all
// tables of a store.
func (b *Base) Relational() *Base { return b }

// LockLog returns the newest seq of the log, and prevents other writers from
// appending until the transaction ends.
func (b *Base) LockLog(ctx context.Context, tx Tx) (newest int64, err error) {
	h, err := b.lockLog(ctx, tx)
	return h.seq, err
}

// Table is a table of a store, and how large it is with its indexes.
type Table struct {
	Name        string
	Rows, Bytes int64
}

// CountRows sets the number of rows of each table.
func (b *Base) CountRows(ctx context.Context, tables []Table) error {
	for i := range tables {
		if _, err := One(ctx, b, []any{&tables[i].Rows}, `SELECT count(*) FROM "`+tables[i].Name+`"`); err != nil {
			return err
		}
	}
	return nil
}
