//go:build !linux

package sandbox

import (
	"os"
	"os/exec"
)

// Systems other than Linux enforce fewer limits: the time of a document, and the
// memory of PDFium within the child.

func setProcessGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }

func wasKilled(state *os.ProcessState) bool { return !state.Exited() }

func residentMemory(int) int64 { return 0 }
