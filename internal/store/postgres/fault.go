package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"pregon/internal/fault"
	"pregon/internal/store"
)

const damaged = "it is damaged"

// refusals are the conditions in which a database cannot serve for now, by the
// SQLSTATE that the server sends.
var refusals = map[string]string{
	"08000": "the connection to the database broke",
	"08003": "the connection to the database broke",
	"08006": "the connection to the database broke",
	"25006": "the database is read-only",
	"25P03": "the connection to the database was idle for too long",
	"28000": "the database refuses the user",
	"28P01": "the database refuses the password",
	"3D000": "there is no such database",
	"42501": "the database's user lacks a permission",
	"40001": "the read replica ended the query, because the primary had removed rows that it read",
	"53100": "the database's disk is full",
	"53300": "the database has no free connection",
	"57P01": "the database is shutting down",
	"57P02": "the database is shutting down",
	"55P03": "another program keeps it locked",
	"57014": "it does not answer in time",
	"57P03": "the database is starting",
	"XX001": damaged,
	"XX002": damaged,
}

// Away reports whether an error of Open may pass by itself: the server does not
// answer, is starting, or has no connection to spare. A refused password does not.
func Away(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "08000", "08003", "08006", "53300", "57P01", "57P02", "57P03":
			return true
		}
		return false
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errOldSchema) || unavailable(err) != ""
}

// failed adds to an error what was being done. It makes the error Unavailable
// when the database cannot be reached.
func failed(doing string, err error) error {
	if message := unavailable(err); message != "" {
		if message == damaged {
			err = fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
		err = fault.Wrap(fault.Unavailable, err, "%s", message)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func unavailable(err error) string {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "" // the caller's context ended
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refusals[e.Code]
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[net.Error](err)
	closed := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, pgconn.ErrConnClosed)
	if connecting || network || closed {
		return "the database does not answer"
	}
	return ""
}
