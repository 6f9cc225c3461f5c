package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"pregon/internal/fault"
	"pregon/internal/service/snapshots"
)

// bulkFlags configure the snapshots of all reports, issuers and positions.
type bulkFlags struct {
	Bulk    string `default:"keys" enum:"public,keys,off" help:"Who may download snapshots of all reports, issuers and positions at /api/v1/bulk: public for anyone, keys for callers with a key or token, off for nobody (no snapshots are made)."`
	BulkDir string `placeholder:"DIR" help:"Directory for the snapshots, shared by the processes of one store. Default: PATH.bulk beside a SQLite file; none with PostgreSQL."`
	BulkS3  string `name:"bulk-s3" placeholder:"s3://BUCKET/PREFIX" help:"Keep the snapshots in a bucket of an S3-compatible store, with the settings and keys of --documents-s3."`
}

// validateBuckets checks the settings of documents and snapshots in buckets.
func (c *serveConfig) validateBuckets() error {
	if c.BulkS3 != "" && c.BulkDir != "" {
		return fault.New(fault.Invalid, "--bulk-dir and --bulk-s3 cannot be combined: give the one place where "+
			"snapshots are kept")
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

// snapshots returns where snapshots are kept, and for whom.
func (c *serveConfig) snapshots(p *process, cacheDir string) (s snapshots.Settings, err error) {
	s.Off = c.Bulk == "off"
	s.Public = c.Bulk == "public"
	if c.BulkS3 != "" {
		kept := c.bucketOptions(p, "--bulk-s3", c.BulkS3)
		s.Bucket = &kept
		sum := sha256.Sum256([]byte(c.S3Endpoint + " " + c.BulkS3))
		s.Workspace = filepath.Join(cmp.Or(cacheDir, os.TempDir()), "bulk-"+hex.EncodeToString(sum[:8]))
	}
	s.Dir, err = c.bulkDir()
	return s, err
}
