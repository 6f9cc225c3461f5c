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

// SetSchemaVersion makes the file look as if another program had migrated it.
func (s *Store) SetSchemaVersion(ctx context.Context, v int) error {
	_, err := s.write.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", v))
	return err
}
