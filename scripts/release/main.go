// Command release builds the files of a release: for each platform one archive
// with a static binary and one SBOM, the clients as a wheel and an archive of npm with
// an SBOM each, and the file SHA256SUMS.
//
// The same commit, built with the same version of Go, gives the same bytes in any
// directory: file times are the time of the commit, archives have a fixed order
// and owner, and no path of the machine is stored. With -check, release builds
// everything a second time, in a clone with an empty build cache, and compares.
//
// Run it in the root of the repository, with `make release` or `make release-check`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	out := flag.String("out", "dist", "directory of the files, which is removed first")
	platforms := flag.String("platforms", strings.Join(allPlatforms, ","), "platforms, separated by commas; empty for none")
	libraries := flag.String("clients", strings.Join(allClients(), ","), "clients, separated by commas; empty for none")
	check := flag.Bool("check", false, "build everything twice and compare")
	flag.Parse()

	src, err := describe(ctx, ".")
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(*out)
	if err != nil {
		return err
	}
	b := build{
		dir:       ".",
		pkg:       "./cmd/pregon",
		name:      "pregon",
		source:    src,
		out:       dir,
		platforms: split(*platforms),
		clients:   split(*libraries),
	}
	sums, err := b.run(ctx)
	if err != nil {
		return err
	}
	fmt.Print(sums)
	if *check {
		return b.repeat(ctx, sums)
	}
	return nil
}

// split returns the names in a list with commas.
func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// repeat builds the commit again in a clone with an empty build cache, and returns an
// error if a file differs from the one with these sums.
func (b build) repeat(ctx context.Context, sums string) error {
	if strings.HasSuffix(b.source.version, dirtySuffix) {
		return errors.New("-check compares commits, and the working tree has changes: commit them first")
	}
	temp, err := os.MkdirTemp("", "pregon-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	again := b
	again.dir, again.out, again.cache = filepath.Join(temp, "clone"), filepath.Join(temp,
		"dist"), filepath.Join(temp, "cache")
	clone := exec.CommandContext(ctx, "git", "clone", "--quiet", b.dir, again.dir)
	clone.Stderr = os.Stderr
	if err := clone.Run(); err != nil {
		return fmt.Errorf("git clone: %w", err)
	}
	if again.source, err = describe(ctx, again.dir); err != nil {
		return err
	}
	second, err := again.run(ctx)
	if err != nil {
		return err
	}
	if second != sums {
		return fmt.Errorf("two builds of %s differ:\nfirst\n%ssecond\n%s", b.source.version, sums, second)
	}
	fmt.Printf("two builds of %s are identical\n", b.source.version)
	return nil
}
