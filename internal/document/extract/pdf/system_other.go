//go:build !linux

package pdf

import (
	"errors"
	"io"
	"os"
)

func ownedByOther(os.FileInfo) bool { return false }

func lock(string) (io.Closer, error) { return nil, errors.ErrUnsupported }

func limitMemory(int, int64) error { return nil }

func reserve(size int) ([]byte, error) { return make([]byte, size), nil }

func commit([]byte) error { return nil }

func release([]byte) {}
