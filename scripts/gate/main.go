// Command gate runs the checks and tests of the project: those of `make test`, or with
// -all those of `make test-all`. It prints each part when it begins and when it ends,
// with the time it took.
//
// A test that fails is run once more, alone, when everything else has ended: many tests
// start whole programs, and a busy machine can delay one. Such a test is named at the
// end in any case. Data races, panics, time-outs and what does not build are never run
// again.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	all := flag.Bool("all", false, "run every test: with the race detector, browsers, proxies, faults and the release")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *all); err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
		os.Exit(1)
	}
}

// run runs all parts and then the failed tests again.
func run(ctx context.Context, all bool) error {
	r := &report{
		out:   os.Stdout,
		begun: time.Now(),
	}
	temp, remove := memoryTemp()
	defer remove()
	phases := quick(all, temp)
	name := "make test"
	if all {
		name = "make test-all"
		longer, err := longer(ctx, temp)
		if err != nil {
			return err
		}
		phases = append(phases, longer...)
	}
	err := runPhases(ctx, r, phases)
	if err == nil {
		err = r.again(ctx)
	}
	r.summary()
	if err != nil {
		return err
	}
	r.print("%s: every check and every test passed", name)
	return nil
}
