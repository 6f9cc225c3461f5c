package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"pregon/internal/disclosure"
	"pregon/internal/store/highwater"
)

type restoreCmd struct{ storeFlag }

// Run renews the epoch of the log.
func (c *restoreCmd) Run(ctx context.Context, p *process) error {
	db, err := c.open(ctx, false)
	if err != nil {
		return err
	}
	defer db.Close()
	spec, err := parseStore(c.Store)
	if err != nil {
		return err
	}
	before, err := db.Head(ctx)
	if err != nil {
		return err
	}
	// What was served before has epochs that the backup may not know of.
	keeper := highwater.New(db, slog.New(slog.DiscardHandler), spec.remembered("")...)
	head, renewed, err := keeper.Check(ctx)
	if err == nil && !renewed {
		head, err = db.RenewEpoch(ctx, head.Epoch, disclosure.Mark{})
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s has the epoch %s now, which was %s; its newest change is %d\n", c.show(), head.Epoch, before.Epoch, head.Seq)
	return db.Close()
}

// identity returns a name of the store, which is the same for every spelling of
// its address.
func (s storeSpec) identity() string {
	if s.url == "" {
		path, err := filepath.Abs(s.path)
		if err != nil {
			path = s.path
		}
		return "sqlite:" + path
	}
	config, err := pgx.ParseConfig(s.url)
	if err != nil {
		return s.url
	}
	return fmt.Sprintf("postgres: %q %d %q %q %q %q", strings.ToLower(config.Host), config.Port, config.Database, config.User,
		config.RuntimeParams["search_path"], config.RuntimeParams["options"])
}

// digest is the identity, for names of files and keys: it may hold secrets.
func (s storeSpec) digest() string {
	sum := sha256.Sum256([]byte(s.identity()))
	return hex.EncodeToString(sum[:8])
}

// remembered returns the files in which it is remembered how far the log was
// served: beside a SQLite file, else in the cache directory, if there is one.
func (s storeSpec) remembered(cacheDir string) []highwater.Place {
	switch {
	case s.url == "":
		return []highwater.Place{highwater.File(s.path + ".served")}
	case cacheDir != "":
		return []highwater.Place{highwater.File(filepath.Join(cacheDir, "served-"+s.digest()+".json"))}
	}
	return nil
}

// newKeeper makes what remembers how far the log was served.
func (c *serveConfig) newKeeper(s *service) (*highwater.Keeper, error) {
	spec, err := parseStore(c.Store)
	if err != nil {
		return nil, err
	}
	places := spec.remembered(c.cacheDir(s.log.Logger))
	if s.auth.redis != nil {
		places = append(places, s.auth.redis.Note("pregon:served:"+spec.digest()))
	}
	return highwater.New(s.store, s.log.Logger, places...), nil
}
