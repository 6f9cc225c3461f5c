package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Size returns the size in bytes of the file and its write-ahead log.
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

// Connections returns the number of read connections in use, and the maximum.
func (s *Store) Connections() (inUse, most int) {
	st := s.read.Stats()
	return st.InUse, st.MaxOpenConnections
}
