package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"pregon/internal/fault"
	"pregon/internal/store"
)

// reasons are the conditions in which a file cannot be used, by SQLite's result
// code.
var reasons = map[int]string{
	lib.SQLITE_BUSY:     "another process keeps it locked",
	lib.SQLITE_LOCKED:   "another process keeps it locked",
	lib.SQLITE_READONLY: "it is read-only",
	lib.SQLITE_PERM:     "the permission to open it is missing",
	lib.SQLITE_AUTH:     "the permission to open it is missing",
	lib.SQLITE_CANTOPEN: "it cannot be opened",
	lib.SQLITE_IOERR:    "the disk fails",
	lib.SQLITE_FULL:     "the disk is full",
	lib.SQLITE_NOTADB:   "it is not a SQLite database",
	lib.SQLITE_CORRUPT:  "it is damaged",
}

// hasCode reports whether an error has a result code of SQLite.
func hasCode(err error, code int) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Code()&0xff == code
}

// failed adds to an error what was being done, and the reason for SQLite's result
// code.
func failed(doing string, err error) error { return fmt.Errorf("%s: %w", doing, explained(err)) }

// explained adds the reason for SQLite's result code to an error.
func explained(err error) error {
	if _, already := errors.AsType[*fault.Error](err); already {
		return err
	}
	if e, ok := errors.AsType[*driver.Error](err); ok {
		if e.Code()&0xff == lib.SQLITE_CORRUPT {
			err = fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
		if reason, known := reasons[e.Code()&0xff]; known { // the rest of the code are details
			return fault.Wrap(fault.Unavailable, err, "%s", reason)
		}
	}
	return err
}
