//go:build !linux

package sandbox

import (
	"errors"
	"runtime"
)

// Exec returns errors.ErrUnsupported: only Linux confines processes.
func Exec(Policy, func(Status) []string) (Status, error) {
	s := Status{}
	for _, l := range Layers {
		s[l] = runtime.GOOS + " does not support it"
	}
	return s, errors.ErrUnsupported
}

// HideMemory does nothing on this system.
func HideMemory() error { return nil }
