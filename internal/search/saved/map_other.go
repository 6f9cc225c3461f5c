//go:build !linux && !darwin

package saved

import (
	"errors"
	"os"
)

func mapFile(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func lock(*os.File) error { return nil } // two that write at once leave one good pair, or none
