package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"pregon/internal/store/relational"
)

// dialect is SQLite's. It has no lists, so that they are JSON, no order but that of
// bytes, and no locks of rows, since it has one writer at a time.
var dialect = relational.Dialect{
	Now:      clock,
	Clock:    clock,
	ByBytes:  "",
	In:       func(parameter string) string { return "IN (SELECT value FROM json_each(" + parameter + "))" },
	Elements: func(parameter string) string { return "json_each(" + parameter + ")" },
	Lock:     func(string) string { return "" },
}

// clock is the parameter that has the present time: see bind. SQLite has no clock that
// counts in microseconds, and all processes share this machine's clock.
const clock = "$now"

// bind converts arguments to what the driver takes. Times and durations are
// microseconds, lists and rows are JSON.
func bind(statement string, args []any) ([]any, error) {
	bound := make([]any, len(args), len(args)+1)
	for i, arg := range args {
		switch arg := arg.(type) {
		case []string, []int64:
			text, err := json.Marshal(arg)
			if err != nil {
				return nil, err
			}
			bound[i] = string(text)
		case relational.Values:
			for _, row := range arg {
				for n, value := range row {
					row[n] = number(value)
				}
			}
			text, err := json.Marshal(arg)
			if err != nil {
				return nil, err
			}
			bound[i] = string(text)
		default:
			bound[i] = number(arg)
		}
	}
	if strings.Contains(statement, clock) {
		bound = append(bound, sql.Named("now", time.Now().UnixMicro()))
	}
	return bound, nil
}

// number returns a time or a duration in microseconds, and other values as they
// are.
func number(value any) any {
	switch value := value.(type) {
	case time.Time:
		return value.UnixMicro()
	case time.Duration:
		return value.Microseconds()
	}
	return value
}

// rows are rows whose times are microseconds and whose lists are JSON.
type rows struct{ *sql.Rows }

func (r rows) Close() { _ = r.Rows.Close() } // Err has returned any error

func (r rows) Scan(dest ...any) error {
	for i, d := range dest {
		switch d := d.(type) {
		case *time.Time:
			dest[i] = (*instant)(d)
		case *[]string:
			dest[i] = (*list)(d)
		}
	}
	return r.Rows.Scan(dest...)
}

type instant time.Time

// Scan implements sql.Scanner.
func (i *instant) Scan(value any) error {
	switch value := value.(type) {
	case nil:
		*i = instant{}
	case int64:
		*i = instant(time.UnixMicro(value).UTC())
	default:
		return fmt.Errorf("a time is a %T", value)
	}
	return nil
}

type list []string

// Scan implements sql.Scanner.
func (l *list) Scan(value any) error {
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("a list is a %T", value)
	}
	return json.Unmarshal([]byte(text), (*[]string)(l))
}

// preparer is *sql.DB or *sql.Tx. It closes its statements when it ends.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// prepared are the statements of a database or a transaction, each prepared once.
type prepared struct {
	preparer
	statements sync.Map
}

func (p *prepared) prepare(ctx context.Context, statement string, args []any) (*sql.Stmt, []any, error) {
	bound, err := bind(statement, args)
	if err != nil {
		return nil, nil, err
	}
	if known, ok := p.statements.Load(statement); ok {
		return known.(*sql.Stmt), bound, nil
	}
	made, err := p.PrepareContext(ctx, statement)
	if err != nil {
		return nil, nil, err
	}
	if known, twice := p.statements.LoadOrStore(statement, made); twice {
		return known.(*sql.Stmt), bound, made.Close()
	}
	return made, bound, nil
}

func (p *prepared) Query(ctx context.Context, statement string, args ...any) (relational.Rows, error) {
	prepared, bound, err := p.prepare(ctx, statement, args)
	if err != nil {
		return nil, err
	}
	found, err := prepared.QueryContext(ctx, bound...)
	if err != nil {
		return nil, err
	}
	return rows{found}, nil
}

// transaction keeps the first error of Exec.
type transaction struct {
	prepared
	failed error
}

func (t *transaction) Query(ctx context.Context, statement string, args ...any) (relational.Rows, error) {
	if t.failed != nil {
		return nil, t.failed
	}
	return t.prepared.Query(ctx, statement, args...)
}

func (t *transaction) Exec(ctx context.Context, statement string, args ...any) {
	if t.failed != nil {
		return
	}
	prepared, bound, err := t.prepare(ctx, statement, args)
	if err == nil {
		_, err = prepared.ExecContext(ctx, bound...)
	}
	t.failed = err
}
