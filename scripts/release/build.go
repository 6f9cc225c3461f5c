package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

var allPlatforms = []string{
	"linux/amd64", "linux/arm64",
	"darwin/amd64", "darwin/arm64",
	"windows/amd64", "windows/arm64",
}

// build is one build of a release.
type build struct {
	dir       string // the root of the module
	pkg, name string // the program and its name
	source    source
	out       string // absolute; removed first
	cache     string // the build cache; empty for that of the user
	platforms []string
	clients   []string
}

// run writes all files and returns the content of SHA256SUMS.
func (b build) run(ctx context.Context) (string, error) {
	if err := os.RemoveAll(b.out); err != nil {
		return "", err
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return "", err
	}
	var names []string
	for _, platform := range b.platforms {
		if !slices.Contains(allPlatforms, platform) {
			return "", fmt.Errorf("unknown platform %q: known are %s", platform, strings.Join(allPlatforms, ", "))
		}
		written, err := b.platform(ctx, platform)
		if err != nil {
			return "", fmt.Errorf("%s: %w", platform, err)
		}
		names = append(names, written...)
	}
	for _, name := range b.clients {
		written, err := b.client(ctx, name)
		if err != nil {
			return "", fmt.Errorf("client %s: %w", name, err)
		}
		names = append(names, written...)
	}
	slices.Sort(names)
	var sums strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(b.out, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), name) // as sha256sum --check reads it
	}
	return sums.String(), os.WriteFile(filepath.Join(b.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// platform writes the files of one platform and returns their names.
func (b build) platform(ctx context.Context, platform string) ([]string, error) {
	goos, goarch, _ := strings.Cut(platform, "/")
	base := strings.Join([]string{b.name, b.source.version, goos, goarch}, "_")
	program := b.name
	if goos == "windows" {
		program += ".exe"
	}
	binary, err := b.compile(ctx, goos, goarch)
	if err != nil {
		return nil, err
	}
	files, err := b.documents()
	if err != nil {
		return nil, err
	}
	files = append(files, file{program, 0o755, binary})
	archive, format := base+".tar.gz", writeTar
	if goos == "windows" {
		archive, format = base+".zip", writeZip
	}
	var packed bytes.Buffer
	if err := format(&packed, base, files, b.source.time); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(b.out, archive), packed.Bytes(), 0o644); err != nil {
		return nil, err
	}
	bom, err := newSBOM(binary, b.name, b.source)
	if err != nil {
		return nil, err
	}
	sbom := base + ".cdx.json"
	return []string{archive, sbom}, os.WriteFile(filepath.Join(b.out, sbom), bom, 0o644)
}

// compile returns the stripped static binary of a platform. Without symbol table and
// debug data, panics still have stack traces and profiles still have names: the
// runtime has its own table of functions.
func (b build) compile(ctx context.Context, goos, goarch string) ([]byte, error) {
	temp, err := os.MkdirTemp("", "pregon-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	path := filepath.Join(temp, b.name)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X main.version="+b.source.version, "-o", path, b.pkg)
	cmd.Dir = b.dir
	// What a user may have set for other builds would change the binary.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOAMD64=v2", "GOARM64=v8.0",
		"GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	if b.cache != "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+b.cache)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build: %w", err)
	}
	return os.ReadFile(path)
}
