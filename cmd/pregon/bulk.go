package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"

	"pregon/internal/fault"
	"pregon/internal/rest"
	"pregon/internal/server/telemetry"
	"pregon/internal/source/ingest"
	"pregon/internal/store"
	"pregon/internal/transfer/bulk"
)

// bulkFlags configure the snapshots of all reports and issuers.
type bulkFlags struct {
	Bulk    string `default:"keys" enum:"public,keys,off" help:"Who may download snapshots of all reports and issuers at /api/v1/bulk: public is anyone, keys any key or token, off makes and offers none."`
	BulkDir string `placeholder:"DIR" help:"Directory for the snapshots, shared by the processes of one store. Default: PATH.bulk beside a SQLite file; none with PostgreSQL."`
	BulkS3  string `name:"bulk-s3" placeholder:"s3://BUCKET/PREFIX" help:"Keep the snapshots in a bucket of an S3-compatible store, with the settings and keys of --documents-s3."`
}

// validateBuckets checks the settings of documents and snapshots in buckets.
func (c *serveConfig) validateBuckets() error {
	if c.BulkS3 != "" && c.BulkDir != "" {
		return fault.New(fault.Invalid, "--bulk-dir and --bulk-s3 are both given: snapshots have one place")
	}
	if c.shared = c.BulkS3 != ""; c.shared {
		if err := c.validateBucket("--bulk-s3", c.BulkS3); err != nil {
			return err
		}
	}
	return c.bucketFlags.validate()
}

// bulkDir returns the directory for snapshots, "" if they are not kept in one.
func (c *serveConfig) bulkDir() (string, error) {
	address, err := c.address()
	switch {
	case err != nil || c.Bulk == "off" || c.BulkS3 != "":
		return "", err
	case c.BulkDir != "":
		return c.BulkDir, nil
	case !address.IsPostgres():
		return address.Path() + ".bulk", nil
	}
	return "", nil
}

// bulkPlace returns where snapshots are kept, or why there are none.
func (c *serveConfig) bulkPlace(ctx context.Context, p *process, s *service) (place bulk.Place, absent string, err error) {
	dir, err := c.bulkDir()
	if err != nil {
		return nil, "", err
	}
	switch {
	case c.Bulk == "off":
		return nil, "This service offers no snapshots, because its --bulk is off.", nil
	case c.BulkS3 != "":
		b, err := c.openBucket(ctx, p, "--bulk-s3", c.BulkS3)
		sum := sha256.Sum256([]byte(c.S3Endpoint + " " + c.BulkS3))
		work := filepath.Join(cmp.Or(c.cacheDir(s.log.Logger), os.TempDir()), "bulk-"+hex.EncodeToString(sum[:8]))
		return bulk.Bucket{Bucket: b, Workspace: work}, "", err
	case dir != "":
		return bulk.Dir(dir), "", nil
	}
	return nil, "This service makes no snapshots: its operator has to give them a place with --bulk-dir or --bulk-s3.", nil
}

// wireBulk creates what lists snapshots and, in a process that ingests, what makes
// them. The process that holds the lease of the source does; without a source, the
// first one.
func (c *serveConfig) wireBulk(ctx context.Context, p *process, s *service, db *store.Sourced) error {
	place, absent, err := c.bulkPlace(ctx, p, s)
	if err != nil {
		return err
	}
	s.bulk = rest.Bulk{Absent: absent, Public: c.Bulk == "public"}
	if place == nil {
		return nil
	}
	s.bulk.Archive = bulk.New(place, s.log.Logger)
	logger := s.log.Logger
	if c.Source == "demo" && c.LogLevel >= slog.LevelInfo {
		logger = telemetry.Warnings(logger) // the address must stay in sight
	}
	if c.Role.ingests() {
		created, err := s.engine.CreatedAt(ctx)
		if err != nil {
			return err
		}
		s.bulkMaker = &bulk.Maker{
			Archive:  s.bulk.Archive,
			Log:      db,
			Holder:   ingest.ProcessName(),
			Source:   db.KnownSource,
			Logger:   logger,
			Requests: func() int64 { return s.server.Requests() },
			Loading: func(ctx context.Context) (bulk.Load, error) {
				err := s.coverage.Refresh(ctx)
				running := c.Source != "none" && ingest.Loading(s.coverage)
				return bulk.Load{Running: running, EndedAt: s.coverage.FilledAt()}, err
			},
			Created: created,
			Leads:   func() bool { return s.ready() == nil && (s.reader == nil || s.reader.Holding()) },
		}
	}
	return nil
}
