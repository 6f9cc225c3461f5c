package main

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"pregon/internal/cli"
)

// file is a file of an archive.
type file struct {
	name string
	mode fs.FileMode
	data []byte
}

// documents returns the files that are in every archive beside the program.
func (b build) documents() ([]file, error) {
	var files []file
	for _, d := range []struct{ name, path string }{
		{"README.md", "README.md"},
		{"CHANGELOG.md", "CHANGELOG.md"},
		{"NOTICES.txt", "internal/server/notices/notices.txt"},
	} {
		data, err := os.ReadFile(filepath.Join(b.dir, d.path))
		if err != nil {
			return nil, err
		}
		files = append(files, file{d.name, 0o644, data})
	}
	for _, shell := range slices.Sorted(maps.Keys(cli.CompletionScripts)) {
		files = append(files, file{"completions/pregon." + shell, 0o644, []byte(cli.CompletionScripts[shell])})
	}
	return files, nil
}

// sorted returns the files by name, so that archives have one order.
func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
}

// writeTar writes a compressed tar archive of the files below a directory. Owner and
// group are root without names, and every time is t.
func writeTar(w io.Writer, dir string, files []file, t time.Time) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression) // its header has neither time nor name
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	for _, f := range sorted(files) {
		header := &tar.Header{
			Name:    dir + "/" + f.name,
			Mode:    int64(f.mode),
			Size:    int64(len(f.data)),
			ModTime: t,
			Format:  tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return packed.Close()
}

// writeZip is writeTar for zip archives.
func writeZip(w io.Writer, dir string, files []file, t time.Time) error {
	archive := zip.NewWriter(w)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, f := range sorted(files) {
		header := &zip.FileHeader{Name: dir + "/" + f.name, Method: zip.Deflate, Modified: t}
		header.SetMode(f.mode)
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.data); err != nil {
			return err
		}
	}
	return archive.Close()
}
