package extracttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// BuildWorker builds the worker process that opens documents in a directory, and
// returns its command. The compiled PDF reader can be cached there too.
func BuildWorker(dir string) ([]string, error) {
	program := filepath.Join(dir, "worker")
	build := exec.Command("go", "build", "-o", program, "pregon/internal/document/extract/extracttest/workertest")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the worker: %w\n%s", err, out)
	}
	return []string{program}, nil
}
