package postgres

import (
	"context"

	"pregon/internal/store/relational"
)

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

// Tables returns the tables with their bytes, those of their indexes and of their
// large values.
func (s *Store) Tables(ctx context.Context) (tables []relational.Table, err error) {
	var t relational.Table
	err = relational.Each(ctx, s, []any{&t.Name, &t.Bytes}, func() error {
		tables = append(tables, t)
		return nil
	}, `SELECT relname::text, pg_total_relation_size(oid) FROM pg_class
		WHERE relkind = 'r' AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'log_head'::regclass) ORDER BY relname`)
	if err == nil {
		err = s.CountRows(ctx, tables)
	}
	if err != nil {
		return nil, failed("measuring the tables", err)
	}
	return tables, nil
}
