// Package relational holds what the two engines have in common: the methods of
// store.Store whose statements both databases understand, and everything around
// the statements that differ.
//
// Both databases understand most statements as they are written. What they write
// differently is in the Dialect of the engine: lists, locks and the clock.
package relational

import (
	"context"
	"errors"
	"strconv"
	"time"

	"pregon/internal/store"
)

// Rows are the rows of a query. A time that is NULL is scanned as zero, and every
// other one as UTC.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// DB runs queries. Arguments are strings, numbers, bytes, times, durations, lists
// of strings or numbers, and Values.
type DB interface {
	Query(ctx context.Context, statement string, args ...any) (Rows, error)
}

// Tx is a transaction.
type Tx interface {
	DB
	// Exec runs a statement without a result, perhaps not before the next query or
	// the commit, which returns its error.
	Exec(ctx context.Context, statement string, args ...any)
}

// Values are rows of an argument. Statements read them as a JSON array of arrays.
type Values [][]any

// Base implements most methods of store.Store. An engine embeds it, sets its
// fields, and implements the other methods.
type Base struct {
	DB // outside of transactions
	// Exec runs one statement that writes.
	Exec func(ctx context.Context, statement string, args ...any) error
	// Update runs fn in a transaction that writes and commits it. An error of fn
	// rolls it back and is returned. UpdateLease is the same for leases.
	Update, UpdateLease func(ctx context.Context, fn func(tx Tx) error) error
	// Snapshot runs fn in a transaction whose reads see one moment.
	Snapshot func(ctx context.Context, fn func(Tx) error) error
	// Failed adds to an error what was being done, and its kind.
	Failed func(doing string, err error) error
	// Appended is called at the end of each transaction that appends to the log,
	// with the newest seq and the result of store.ChangedDocuments.
	Appended func(ctx context.Context, tx Tx, seq int64, documents map[string]string)

	SQL Dialect

	// DueDeliveries selects DeliveryColumns of the due deliveries of the webhooks
	// $1, at most $2 of each, in the order of the webhooks.
	DueDeliveries string
	// Released are the values of a lease that was released.
	Released string
	// Documents is the table of the texts of documents, with the columns sha256,
	// bytes, head, pages and indexed.
	Documents string
	// PutText encodes a document, and returns a function that writes it and marks it
	// as indexed. Other writers wait only for that function.
	PutText func(d *store.Document) (func(ctx context.Context, tx Tx), error)
	// RemoveText are the statements that remove the text of the document $1.
	RemoveText []string
	// Filed selects the reports that refer to the document d.
	Filed string
	// FiledDocuments selects which report has which document: the columns report and
	// sha256, which is empty if the document is not known.
	FiledDocuments string

	// Erasing and Erased are statements before and after those that remove names. They
	// make sure that the engine does not leave the bytes where they were.
	Erasing, Erased []string

	Wake store.Wake // woken after every append
}

// errUnchanged rolls back a transaction that has nothing to write.
var errUnchanged = errors.New("nothing to write")

func (b *Base) update(ctx context.Context, doing string, fn func(tx Tx) error) error {
	err := b.Update(ctx, fn)
	if err == nil || errors.Is(err, errUnchanged) {
		return nil
	}
	return b.Failed(doing, err)
}

// fail adds to an error, if there is one, what was being done.
func (b *Base) fail(doing string, err *error) {
	if *err != nil {
		*err = b.Failed(doing, *err)
	}
}

// Each scans the rows of a query one by one into the same destinations, and calls
// fn for each.
func Each(ctx context.Context, db DB, dest []any, fn func() error, statement string, args ...any) error {
	rows, err := db.Query(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if err := fn(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// One scans the only row of a query, and reports whether there is one.
func One(ctx context.Context, db DB, dest []any, statement string, args ...any) (found bool, err error) {
	err = Each(ctx, db, dest, func() error { found = true; return nil }, statement, args...)
	return found, err
}

// Column returns the values of a query of one column.
func Column[T any](ctx context.Context, db DB, statement string, args ...any) (all []T, err error) {
	var value T
	err = Each(ctx, db, []any{&value}, func() error { all = append(all, value); return nil }, statement, args...)
	return all, err
}

// lockHead returns the newest number of a counter, and prevents other writers from
// drawing the next until the transaction ends.
func (b *Base) lockHead(ctx context.Context, tx Tx, table, column string) (newest int64, err error) {
	_, err = One(ctx, tx, []any{&newest}, `SELECT `+column+` FROM `+table+` `+b.SQL.Lock(`FOR UPDATE`))
	return newest, err
}

// interval returns the value of a duration in Values. PostgreSQL parses it; SQLite,
// which counts in microseconds, casts it to the number at its beginning.
func interval(d time.Duration) any {
	return strconv.FormatInt(d.Microseconds(), 10) + " microseconds"
}

// moment returns the value of a time in Values: NULL if it is zero.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Truncate(time.Microsecond) // PostgreSQL would round it
}
