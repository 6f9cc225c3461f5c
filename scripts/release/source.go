package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// dirtySuffix ends the version of a tree that differs from its commit.
const dirtySuffix = "-dirty"

// source is what is built.
type source struct {
	version string
	time    time.Time // of the commit, or SOURCE_DATE_EPOCH
}

// describe returns the version and the time of the commit in dir. The version is the
// tag; after a tag, the tag with the number of commits since and the commit, as
// `git describe` prints it; and without a tag, a pseudo-version as of a Go module.
func describe(ctx context.Context, dir string) (source, error) {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
		if err != nil {
			var failed *exec.ExitError
			if errors.As(err, &failed) {
				err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(failed.Stderr)))
			}
			return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	commit, err := git("log", "-1", "--format=%H %ct")
	if err != nil {
		return source{}, err
	}
	hash, stamp, _ := strings.Cut(commit, " ")
	committed, err := parseEpoch(stamp)
	if err != nil {
		return source{}, err
	}
	s := source{time: committed}
	if s.version, err = git("describe", "--tags", "--match", "v[0-9]*", "--abbrev=12"); err != nil {
		s.version = "v0.0.0-" + committed.Format("20060102150405") + "-" + hash[:12]
	}
	// Not describe --dirty, which ignores new files that the build would include.
	changes, err := git("status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	if changes != "" {
		s.version += dirtySuffix
	}
	if set := os.Getenv("SOURCE_DATE_EPOCH"); set != "" {
		if s.time, err = parseEpoch(set); err != nil {
			return source{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
	}
	return s, nil
}

// parseEpoch parses seconds since 1970. Archives of type zip begin in 1980.
func parseEpoch(text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	t := time.Unix(seconds, 0).UTC()
	if err != nil || t.Year() < 1980 || t.Year() > 2107 {
		return time.Time{}, fmt.Errorf("%q is not a time between 1980 and 2107 in seconds since 1970", text)
	}
	return t, nil
}
