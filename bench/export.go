package main

import (
	"bytes"
	"fmt"
	"time"

	"pregon/internal/store/sqlite"
	"pregon/internal/transfer"
)

// exports measures how fast a snapshot is written in each format, and its size, as the
// service makes it. The rate of jsonl includes reading the store.
func (b *bench) exports() error {
	const n = 100_000
	path, err := b.storeOf(n)
	if err != nil {
		return err
	}
	db, err := sqlite.Open(b.ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	var reports bytes.Buffer
	start := time.Now()
	s, err := transfer.Take(b.ctx, db, transfer.Files{Reports: &reports}, nil)
	if err != nil {
		return err
	}
	measured := func(format transfer.Format, size int64) {
		figure(fmt.Sprintf("export.rate.%s", format), float64(s.Reports)/time.Since(start).Seconds(), "filings/s")
		figure(fmt.Sprintf("bulk.bytes_per_report.%s", format), float64(size)/float64(s.Reports), "bytes")
	}
	measured(transfer.JSONLines, int64(reports.Len()))
	for _, format := range []transfer.Format{transfer.CSV, transfer.Parquet} {
		start = time.Now()
		size, err := b.export(s, reports.Bytes(), format)
		if err != nil {
			return err
		}
		measured(format, size)
	}
	return nil
}

// export writes the reports of a snapshot and returns the size of the file.
func (b *bench) export(s *transfer.Snapshot, reports []byte, format transfer.Format) (int64, error) {
	var size fileSize
	e := transfer.Export{Kind: transfer.Reports, Format: format}
	if format == transfer.Parquet {
		_, err := s.Write(b.ctx, &size, bytes.NewReader(reports), e)
		return int64(size), err
	}
	out, err := transfer.NewCompressor(&size)
	if err != nil {
		return 0, err
	}
	if _, err := s.Write(b.ctx, out, bytes.NewReader(reports), e); err != nil {
		return 0, err
	}
	err = out.Close()
	return int64(size), err
}

// fileSize counts the bytes that are written to it.
type fileSize int64

func (c *fileSize) Write(p []byte) (int, error) {
	*c += fileSize(len(p))
	return len(p), nil
}
