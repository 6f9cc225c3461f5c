// Command workertest is the process that opens documents, for tests. It is built
// without the race detector, whose memory use would exceed the limits.
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
