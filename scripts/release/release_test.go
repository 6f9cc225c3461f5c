package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"

	"pregon/internal/test/longtest"
)

var built = source{version: "v1.2.3", time: time.Date(2026, 11, 17, 8, 30, 1, 0, time.UTC)}

// TestReproducible builds a program twice, in different directories. The program is
// this command, which builds in seconds; `make release-check` does the same with the
// service, for every platform.
func TestReproducible(t *testing.T) {
	longtest.Skip(t, "it builds a program twice")
	first := build{
		dir: "../..", pkg: "./scripts/release", name: "release", source: built,
		out: filepath.Join(t.TempDir(), "first"), platforms: []string{"linux/amd64"},
	}
	sums, err := first.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second := first
	second.dir, second.out = copyModule(t), filepath.Join(t.TempDir(), "second")
	again, err := second.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sums, again); diff != "" {
		t.Errorf("two builds of the same files differ:\n%s", diff)
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = first.out
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	if got := strings.Count(sums, "\n"); got != 2 {
		t.Errorf("%d files, want an archive and an SBOM:\n%s", got, sums)
	}
	checkTar(t, filepath.Join(first.out, "release_v1.2.3_linux_amd64.tar.gz"))
	checkSBOM(t, filepath.Join(first.out, "release_v1.2.3_linux_amd64.cdx.json"))
}

// copyModule copies the files of the module that git knows or would add.
func copyModule(t *testing.T) string {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
		"go.mod", "go.sum", "*.md", "scripts", "internal").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join("../..", name))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed, and not yet committed
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var wantFiles = []string{"CHANGELOG.md", "NOTICES.txt", "README.md", "completions/pregon.bash", "completions/pregon.fish", "completions/pregon.zsh"}

func checkTar(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(unpacked); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(h.Name, "release_v1.2.3_linux_amd64/")
		names = append(names, name)
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || !h.ModTime.Equal(built.time) {
			t.Errorf("%s: owner or time: %+v", name, h)
		}
		if name == "release" {
			if h.Mode != 0o755 {
				t.Errorf("mode of the program %o, want 755", h.Mode)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			checkBinary(t, data)
		}
	}
	if want := append(slices.Clone(wantFiles), "release"); !slices.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
	}
}

// checkBinary: the program is static and stripped, has its version, and no path of
// this machine.
func checkBinary(t *testing.T, data []byte) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if libraries, err := f.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("libraries %v %v, want a static binary", libraries, err)
	}
	for _, s := range f.Sections {
		if s.Name == ".symtab" || strings.HasPrefix(s.Name, ".debug_") {
			t.Errorf("section %s, want a stripped binary", s.Name)
		}
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{root + "/", filepath.Join(home, "go") + "/"} {
		if bytes.Contains(data, []byte(path)) {
			t.Errorf("the program contains the path %s", path)
		}
	}
}

// TestZip: an archive of type zip has the same order whatever the order of the files,
// and the time of the source.
func TestZip(t *testing.T) {
	files := []file{{"pregon.exe", 0o755, []byte("program")}, {"README.md", 0o644, []byte("text")}}
	var first, second bytes.Buffer
	if err := writeZip(&first, "dir", files, built.time); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(files)
	if err := writeZip(&second, "dir", files, built.time); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two archives of the same files differ")
	}
	r, err := zip.NewReader(bytes.NewReader(first.Bytes()), int64(first.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
		if !f.Modified.Equal(built.time) {
			t.Errorf("%s: time %s, want %s", f.Name, f.Modified, built.time)
		}
	}
	if want := []string{"dir/README.md", "dir/pregon.exe"}; !slices.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
	}
}

func checkSBOM(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(data), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if bom.SerialNumber != "" || bom.Metadata.Timestamp != "2026-11-17T08:30:01Z" {
		t.Errorf("serial number %q and time %q, want none and that of the commit", bom.SerialNumber, bom.Metadata.Timestamp)
	}
	program := bom.Metadata.Component
	if program.Name != "release" || program.Version != "v1.2.3" || len(*program.Hashes) != 1 {
		t.Errorf("program: %+v", program)
	}
	var names []string
	for _, c := range *bom.Components {
		names = append(names, c.Name)
	}
	for _, want := range []string{"std", "github.com/alecthomas/kong", "github.com/CycloneDX/cyclonedx-go"} {
		if !slices.Contains(names, want) {
			t.Errorf("components %v, want %s among them", names, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-11-17T09:30:01+01:00")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	want := func(pattern string) {
		t.Helper()
		got, err := describe(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile("^"+pattern+"$").MatchString(got.version) || !got.time.Equal(built.time) {
			t.Errorf("version %s of %s, want %s of %s", got.version, got.time, pattern, built.time)
		}
	}
	git("init", "--quiet")
	if _, err := describe(t.Context(), dir); err == nil {
		t.Error("no error without a commit")
	}
	git("commit", "--quiet", "--allow-empty", "-m", "first")
	want(`v0\.0\.0-20261117083001-[0-9a-f]{12}`)
	git("tag", "v1.2.3")
	git("tag", "-a", "-m", "not a version", "latest")
	want(`v1\.2\.3`)
	if err := os.WriteFile(filepath.Join(dir, "new.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	want(`v1\.2\.3-dirty`)
	git("add", ".")
	git("commit", "--quiet", "-m", "second")
	want(`v1\.2\.3-1-g[0-9a-f]{12}`)
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if _, err := describe(t.Context(), dir); err == nil {
		t.Error("no error for an invalid SOURCE_DATE_EPOCH")
	}
}
