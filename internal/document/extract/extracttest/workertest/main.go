// Command workertest is the process that opens documents, for tests: nothing
// watches it for races, which would make it another program than the one that
// the limits are made for.
package main

import (
	"fmt"
	"os"

	"pregon/internal/document/extract/worker"
)

func main() {
	if err := worker.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
