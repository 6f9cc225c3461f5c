package sqlite

import (
	"context"
	"fmt"
	"path/filepath"

	"pregon/internal/fault"
	"pregon/internal/store/relational"
)

// Tables returns the tables with the bytes of their pages and indexes. It reads the
// whole file.
func (s *Store) Tables(ctx context.Context) (tables []relational.Table, err error) {
	var t relational.Table
	err = relational.Each(ctx, s, []any{&t.Name, &t.Bytes}, func() error {
		tables = append(tables, t)
		return nil
	}, `SELECT m.tbl_name, sum(d.pgsize) FROM dbstat d JOIN sqlite_schema m ON m.name = d.name
		WHERE d.aggregate = 1 AND m.tbl_name NOT LIKE 'sqlite_%' GROUP BY 1 ORDER BY 1`)
	if err == nil {
		err = s.CountRows(ctx, tables)
	}
	if err != nil {
		return nil, failed("measuring the tables", err)
	}
	return tables, nil
}

// Unused returns the bytes of the file that hold no data, and whether they can be
// returned in small steps.
func (s *Store) Unused(ctx context.Context) (bytes int64, inSteps bool, err error) {
	var mode int
	_, err = relational.One(ctx, s, []any{&bytes, &mode}, `SELECT f.freelist_count * p.page_size, a.auto_vacuum
		FROM pragma_freelist_count f, pragma_page_size p, pragma_auto_vacuum a`)
	if err != nil {
		return 0, false, failed("measuring the free space", err)
	}
	return bytes, mode == incremental, nil
}

// incremental is the value of the pragma auto_vacuum.
const incremental = 2

// pagesAtOnce is the number of pages that one step returns. Other writers wait for a
// step.
const pagesAtOnce = 500

// ReturnUnused returns some unused bytes to the file system, in a short transaction.
func (s *Store) ReturnUnused(ctx context.Context) error {
	rows, err := s.write.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pagesAtOnce))
	if err != nil {
		return failed("returning free space", err)
	}
	for rows.Next() { // each step returns a page
	}
	err = rows.Err()
	if closeErr := rows.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return failed("returning free space", err)
	}
	return nil
}

// Rewrite writes the file anew without its unused bytes. Other processes cannot
// write meanwhile. It needs twice the size of the file on the disk, and afterwards
// unused bytes can be returned in steps. A crash leaves the file as it was.
func (s *Store) Rewrite(ctx context.Context) error {
	size, err := s.Size(ctx)
	if err != nil {
		return err
	}
	if free, known := DiskFree(filepath.Dir(s.path)); known && free < 2*size {
		return fault.New(fault.Unavailable, "rewriting the file needs %d MB on its disk, and %d MB are free",
			2*size>>20, free>>20)
	}
	conn, err := s.write.Conn(ctx) // the pragma is for one connection
	if err != nil {
		return failed("rewriting the file", err)
	}
	defer conn.Close()
	for _, statement := range []string{"PRAGMA auto_vacuum = 2", "VACUUM"} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return failed("rewriting the file", err)
		}
	}
	return nil
}

// Truncate writes the write-ahead log into the file, which gives both the size of
// their contents, unless another process reads at the moment.
func (s *Store) Truncate(ctx context.Context) error {
	if _, err := s.write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return failed("writing the write-ahead log into the file", err)
	}
	return nil
}
