package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"

	"pregon/internal/test/longtest"
)

// TestClientsReproducible builds the archives of the clients twice, each time in another
// directory.
func TestClientsReproducible(t *testing.T) {
	longtest.Skip(t, "it needs Python and npm")
	for _, name := range allClients() {
		t.Run(name, func(t *testing.T) {
			first := build{
				dir:     "../..",
				source:  built,
				out:     filepath.Join(t.TempDir(), "first"),
				clients: []string{name},
			}
			sums, err := first.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			second := first
			second.out = filepath.Join(t.TempDir(), "second")
			again, err := second.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sums, again); diff != "" {
				t.Errorf("two builds of the same files differ:\n%s", diff)
			}
			_, archive, _ := strings.Cut(strings.SplitN(sums, "\n", 2)[0], "  ")
			data, err := os.ReadFile(filepath.Join(first.out, archive))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range unpack(t, data) {
				if strings.Contains(file, "test") || strings.Contains(file, "node_modules") {
					t.Errorf("%s has %s", archive, file)
				}
			}
			purl := map[string]string{
				"python":     "pkg:pypi/pregon@",
				"typescript": "pkg:npm/pregon@",
			}
			needs := map[string][]string{
				"python": {"httpx"},
			}
			checkClientSBOM(t, filepath.Join(first.out, archive), purl[name], needs[name])
		})
	}
}

// unpack returns the names of the files of a wheel or an archive of npm.
func unpack(t *testing.T, data []byte) (names []string) {
	t.Helper()
	if files, err := zip.NewReader(bytes.NewReader(data), int64(len(data))); err == nil {
		for _, f := range files.File {
			names = append(names, f.Name)
		}
		return names
	}
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(plain); ; {
		f, err := files.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
	}
}

func checkClientSBOM(t *testing.T, archive, purl string, needs []string) {
	t.Helper()
	text, err := os.ReadFile(archive + ".cdx.json")
	if err != nil {
		t.Fatal(err)
	}
	var bom cyclonedx.BOM
	if err := json.Unmarshal(text, &bom); err != nil {
		t.Fatal(err)
	}
	c := bom.Metadata.Component
	version := strings.TrimPrefix(c.PackageURL, purl)
	if version == c.PackageURL || version == "" || !strings.Contains(filepath.Base(archive), version) {
		t.Errorf("%s: its SBOM is of %s", archive, c.PackageURL)
	}
	if bom.SpecVersion != cyclonedx.SpecVersion1_6 || bom.Metadata.Timestamp != "2026-11-17T08:30:01Z" {
		t.Errorf("%s: the SBOM has version %v and time %s", archive, bom.SpecVersion, bom.Metadata.Timestamp)
	}
	var required []string
	if bom.Components != nil { // an empty list is left out of the file
		for _, n := range *bom.Components {
			if n.Scope == cyclonedx.ScopeRequired {
				required = append(required, n.Name)
			}
		}
	}
	if diff := cmp.Diff(needs, required); diff != "" {
		t.Errorf("%s: what is installed with it:\n%s", archive, diff)
	}
}

// The names and versions of what a wheel needs are read as its metadata state them.
func TestDescribeWheel(t *testing.T) {
	var archive bytes.Buffer
	files := zip.NewWriter(&archive)
	f, err := files.Create("pregon-1.2.dist-info/METADATA")
	if err != nil {
		t.Fatal(err)
	}
	const metadata = "Metadata-Version: 2.1\nName: pregon\nVersion: 1.2\nRequires-Dist: httpx (>=0.23)\n" +
		"Requires-Dist: anyio\nRequires-Dist: pandas>=1.5; extra == 'pandas'\n\n# The text\n"
	if _, err := io.WriteString(f, metadata); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := describeWheel(archive.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := pkg{kind: "pypi", name: "pregon", version: "1.2", needs: []need{
		{name: "httpx", versions: ">=0.23"},
		{name: "anyio"},
		{name: "pandas", versions: ">=1.5", optional: true},
	}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(pkg{}, need{})); diff != "" {
		t.Error(diff)
	}
	if _, err := describeWheel([]byte("no archive")); err == nil {
		t.Error("a file that is not an archive is described")
	}
}
