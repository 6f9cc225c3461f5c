package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Size returns the bytes of the file and of the log of its last commits.
func (s *Store) Size(context.Context) (int64, error) {
	var sum int64
	for _, path := range []string{s.path, s.path + "-wal"} {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) && path != s.path {
			continue
		}
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, nil
}

// Connections returns how many connections readers use, and may use.
func (s *Store) Connections() (inUse, most int) {
	st := s.read.Stats()
	return st.InUse, st.MaxOpenConnections
}
