//go:build !linux

package extract

import (
	"errors"
	"io"
	"os"
	"os/exec"
)

// Elsewhere than on Linux documents are read with fewer guards: the limit of
// time holds, and within the child those of PDFium's own memory.

func setProcessGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }

func wasKilled(state *os.ProcessState) bool { return !state.Exited() }

func ofOthers(os.FileInfo) bool { return false }

func residentMemory(int) int64 { return 0 }

func lock(string) (io.Closer, error) { return nil, errors.ErrUnsupported }

func processor() string { return "" }

func limitMemory(int, int64) error { return nil }
