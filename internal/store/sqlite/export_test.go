package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// WrapCommit lets a test decide what becomes of each commit. It must come
// before any Append.
func (s *Store) WrapCommit(wrap func(commit func() error) error) {
	s.commit = func(tx *sql.Tx) error { return wrap(tx.Commit) }
}

// ReadAnew reads through a new connection.
func (s *Store) ReadAnew(ctx context.Context) error {
	s.read.SetMaxIdleConns(0) // closes those that are idle
	_, err := s.read.ExecContext(ctx, "SELECT count(*) FROM log_head")
	return err
}

// SetSchemaVersion makes the file look as if another program had migrated it.
func (s *Store) SetSchemaVersion(ctx context.Context, v int) error {
	_, err := s.write.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", v))
	return err
}
