package relational

// Dialect has the parts of statements that the engines write differently. Each
// statement names the parts where it needs them:
//
//	`SELECT id FROM report WHERE id ` + b.SQL.In(`$1`) + ` ORDER BY id ` + b.SQL.Lock(`FOR UPDATE`)
//
// Other differences need no part: a cast is written CAST(x AS type), never x::type,
// and SQLite takes a type for a number that has INT in its name, as interval and
// bigint have.
type Dialect struct {
	// Now is the time when the transaction began. It does not move while a statement
	// runs, so that an index can serve.
	Now string
	// Clock is the time when it is evaluated, which may be after a wait for a lock.
	Clock string
	// ByBytes follows a text that is compared byte by byte, as in the index of it.
	ByBytes string
	// In returns the condition, without its left side, that a value is in the list
	// that is a parameter.
	In func(parameter string) string
	// Elements returns a table of the rows of a parameter that is Values. Its column
	// value has a row as a JSON array.
	Elements func(parameter string) string
	// Lock returns a clause that locks the selected rows until the transaction ends,
	// or nothing where transactions that write run one at a time.
	Lock func(clause string) string
}
