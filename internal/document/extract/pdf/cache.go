package pdf

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Prepare ensures that a directory holds PDFium's compiled code, for processes
// of the given memory. One process compiles while the others wait for it: if
// several did on a busy machine, none might finish in time.
func Prepare(dir string, memory int64) error {
	if dir == "" {
		return nil
	}
	if err := checkPrivate(dir); err != nil {
		return err
	}
	// If the lock cannot be taken, such as on a read-only file system, the
	// processes do not wait for each other.
	if held, err := lock(filepath.Join(dir, "lock")); err == nil {
		defer held.Close()
	}
	_, err := compileCached(dir, memory)
	if err == nil {
		return nil
	}
	// The cached code may be damaged.
	old := compiledDirs(dir)
	for _, dir := range old {
		if os.RemoveAll(dir) != nil {
			return err
		}
	}
	if len(old) == 0 {
		return err
	}
	_, err = compileCached(dir, memory)
	return err
}

// compiledDirs returns the directories of compiled code in the cache.
func compiledDirs(dir string) []string {
	list, _ := filepath.Glob(filepath.Join(dir, "wazero-*"))
	return list
}

// checkPrivate creates the cache directory if missing. It returns an error if
// another user may write to it or to the code in it, because that code is going
// to be executed.
func checkPrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := checkWritable(dir); err != nil {
		return err
	}
	for _, within := range compiledDirs(dir) {
		err := filepath.WalkDir(within, func(path string, _ fs.DirEntry, err error) error {
			return cmp.Or(err, checkWritable(path))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkWritable returns an error if another user may write to a file.
func checkWritable(path string) error {
	info, err := os.Stat(path)
	if err == nil && (info.Mode().Perm()&0o022 != 0 || ownedByOther(info)) {
		err = fmt.Errorf("others may write to %s", path)
	}
	return err
}
