package main

import (
	"context"

	"pregon/internal/document/extract/worker"
)

// extractWorkerCmd is the child process that opens documents. Serve and backfill
// start it.
type extractWorkerCmd struct{}

// Run reads documents until standard input ends.
func (extractWorkerCmd) Run(_ context.Context, p *process) error {
	return worker.Serve(p.stdin, p.stdout)
}
