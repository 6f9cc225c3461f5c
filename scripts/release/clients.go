package main

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// client is a client library of a release.
type client struct {
	dir   string // below the root of the module
	files []string
	build [][]string // commands, in dir; {out} is the directory of the archive
	sbom  func(archive []byte) (pkg, error)
}

// clients are the clients of a release by name. They have versions of their own.
var clients = map[string]client{
	"python": {
		dir:   "clients/python",
		files: []string{"clients/python"},
		build: [][]string{
			{"/usr/bin/python3", "-c", buildWheel, "{out}"},
		},
		sbom: describeWheel,
	},
	"typescript": {
		dir:   "clients/typescript",
		files: []string{"clients/typescript", "internal/rest/openapi.yaml"},
		build: [][]string{
			{"npm", "ci", "--no-progress", "--loglevel=error"},
			{"npm", "run", "--silent", "build"},
			{"npm", "pack", "--silent", "--pack-destination={out}"},
		},
		sbom: describeTarball,
	},
}

// buildWheel calls the build backend of pyproject.toml as PEP 517 says, in this
// environment: nothing is downloaded.
const buildWheel = `
import contextlib, sys
from setuptools import build_meta
with contextlib.redirect_stdout(sys.stderr):
    build_meta.build_wheel(sys.argv[1])
`

// allClients returns the names of the clients.
func allClients() []string { return slices.Sorted(maps.Keys(clients)) }

// client writes the archive of a client and its SBOM, and returns their names. It builds
// in a copy of the files that git knows: what else is in the folder does not count.
func (b build) client(ctx context.Context, name string) ([]string, error) {
	c, ok := clients[name]
	if !ok {
		return nil, fmt.Errorf("unknown client: known are %s", strings.Join(allClients(), ", "))
	}
	temp, err := os.MkdirTemp("", "pregon-client-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	tree := filepath.Join(temp, "tree")
	out := filepath.Join(temp, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		return nil, err
	}
	if err := copyFiles(ctx, b.dir, tree, c.files); err != nil {
		return nil, err
	}
	for _, command := range c.build {
		args := slices.Clone(command)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "{out}", out)
		}
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = filepath.Join(tree, c.dir)
		cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(b.source.time.Unix(), 10))
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", command[0], err, text)
		}
	}
	made, err := os.ReadDir(out)
	if err != nil {
		return nil, err
	}
	if len(made) != 1 {
		return nil, fmt.Errorf("the build made %d files, want one archive", len(made))
	}
	archive := made[0].Name()
	data, err := os.ReadFile(filepath.Join(out, archive))
	if err != nil {
		return nil, err
	}
	p, err := c.sbom(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	bom, err := p.sbom(data, b.source.time)
	if err != nil {
		return nil, err
	}
	sbom := archive + ".cdx.json"
	if err := os.WriteFile(filepath.Join(b.out, archive), data, 0o644); err != nil {
		return nil, err
	}
	return []string{archive, sbom}, os.WriteFile(filepath.Join(b.out, sbom), bom, 0o644)
}

// copyFiles copies the files below paths that git knows or would add. Modes are the same
// on every machine.
func copyFiles(ctx context.Context, from, to string, paths []string) error {
	args := []string{"-C", from, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}
	list, err := exec.CommandContext(ctx, "git", append(args, paths...)...).Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	if len(list) == 0 {
		return fmt.Errorf("git knows no file of %s", strings.Join(paths, ", "))
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed, and not yet committed
		}
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, data, 0o644); err != nil {
			return err
		}
		if err := os.Chmod(target, 0o644); err != nil { // whatever the umask is
			return err
		}
	}
	return nil
}

// pkg is what the archive of a client says about itself.
type pkg struct {
	kind    string // of package URLs
	name    string
	version string
	needs   []need
}

// need is a package that is installed with a client.
type need struct {
	name     string
	versions string // as the package states them
	optional bool
}

// maxMetadata bounds a file that is read from an archive.
const maxMetadata = 1 << 20

// describeWheel reads METADATA of a wheel.
func describeWheel(archive []byte) (pkg, error) {
	p := pkg{kind: "pypi"}
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return p, err
	}
	for _, f := range files.File {
		if !strings.HasSuffix(f.Name, ".dist-info/METADATA") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return p, err
		}
		defer r.Close()
		header, err := textproto.NewReader(bufio.NewReader(io.LimitReader(r, maxMetadata))).ReadMIMEHeader()
		if err != nil {
			return p, err
		}
		p.name = header.Get("Name")
		p.version = header.Get("Version")
		for _, line := range header.Values("Requires-Dist") {
			requirement, marker, _ := strings.Cut(line, ";")
			requirement = strings.TrimSpace(requirement)
			end := strings.IndexAny(requirement, " <>=!~([")
			if end < 0 {
				end = len(requirement)
			}
			p.needs = append(p.needs, need{
				name:     requirement[:end],
				versions: strings.Trim(requirement[end:], " ()"),
				optional: strings.Contains(marker, "extra"),
			})
		}
		return p, nil
	}
	return p, errors.New("the wheel does not have METADATA")
}

// describeTarball reads package.json of an archive of npm.
func describeTarball(archive []byte) (pkg, error) {
	p := pkg{kind: "npm"}
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return p, err
	}
	files := tar.NewReader(plain)
	for {
		f, err := files.Next()
		if errors.Is(err, io.EOF) {
			return p, errors.New("the archive does not have package.json")
		}
		if err != nil {
			return p, err
		}
		if f.Name != "package/package.json" {
			continue
		}
		var manifest struct {
			Name, Version string
			Dependencies  map[string]string
		}
		if err := json.NewDecoder(io.LimitReader(files, maxMetadata)).Decode(&manifest); err != nil {
			return p, err
		}
		p.name = manifest.Name
		p.version = manifest.Version
		for _, name := range slices.Sorted(maps.Keys(manifest.Dependencies)) {
			p.needs = append(p.needs, need{name: name, versions: manifest.Dependencies[name]})
		}
		return p, nil
	}
}

// sbom returns the software bill of materials of an archive. The versions of what is
// installed with it are chosen at installation, so it states the ones that are allowed.
func (p pkg) sbom(archive []byte, at time.Time) ([]byte, error) {
	sum := sha256.Sum256(archive)
	library := cyclonedx.Component{
		BOMRef:     p.purl(p.name) + "@" + p.version,
		Type:       cyclonedx.ComponentTypeLibrary,
		Name:       p.name,
		Version:    p.version,
		PackageURL: p.purl(p.name) + "@" + p.version,
		Hashes:     &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
	}
	components := []cyclonedx.Component{}
	refs := []string{}
	for _, n := range p.needs {
		c := cyclonedx.Component{
			BOMRef:     p.purl(n.name),
			Type:       cyclonedx.ComponentTypeLibrary,
			Name:       n.name,
			PackageURL: p.purl(n.name),
			Scope:      cyclonedx.ScopeRequired,
			Properties: &[]cyclonedx.Property{{Name: "pregon:versions", Value: n.versions}},
		}
		if n.optional {
			c.Scope = cyclonedx.ScopeOptional
		}
		components = append(components, c)
		refs = append(refs, c.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: at.Format(time.RFC3339), Component: &library}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: library.BOMRef, Dependencies: &refs}}
	return encode(bom)
}

func (p pkg) purl(name string) string { return "pkg:" + p.kind + "/" + url.PathEscape(name) }
