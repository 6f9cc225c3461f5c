package postgres

import "context"

// Size returns the bytes of the whole database.
func (s *Store) Size(ctx context.Context) (n int64, err error) {
	if err := s.pool.QueryRow(ctx, `SELECT pg_database_size(current_database())`).Scan(&n); err != nil {
		return 0, failed("measuring the database", err)
	}
	return n, nil
}

// Connections returns the number of connections in use, and the maximum.
func (s *Store) Connections() (inUse, most int) {
	st := s.pool.Stat()
	return int(st.AcquiredConns()), int(st.MaxConns())
}
