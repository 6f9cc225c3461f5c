package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// WrapCommit lets a test replace commits. It must be called before any Append.
func (s *Store) WrapCommit(wrap func(commit func() error) error) {
	s.commit = func(tx *sql.Tx) error { return wrap(tx.Commit) }
}

// ReadAnew makes the next read open a new connection.
func (s *Store) ReadAnew(ctx context.Context) error {
	s.read.SetMaxIdleConns(0) // closes those that are idle
	_, err := s.read.ExecContext(ctx, "SELECT count(*) FROM log_head")
	return err
}

// SetSchemaVersion sets the schema version, as another program's migration would.
func (s *Store) SetSchemaVersion(ctx context.Context, v int) error {
	_, err := s.write.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", v))
	return err
}
