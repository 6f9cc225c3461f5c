// Command gate runs the checks and tests of the project: those of `make test`, or with
// -all those of `make test-all`. It prints each part when it begins and when it ends,
// with the time it took.
//
// A test that fails is run once more, alone, when everything else has ended: many tests
// start whole programs, and a busy machine can delay one. Such a test is named at the
// end in any case. Data races, panics, time-outs and what does not build are never run
// again. With -limit a run that takes too long ends by itself, and names what was running.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	all := flag.Bool("all", false, "run every test: with the race detector, browsers, proxies, faults and the release")
	limit := flag.Duration("limit", 0, "fail when this time has passed; 0 is no limit")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, *limit, fmt.Errorf("not finished after %s", *limit))
		defer cancel()
	}
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
	err := runAll(ctx, r, phases)
	r.summary()
	if err != nil {
		return err
	}
	r.print("%s: every check and every test passed", name)
	return nil
}

// runAll runs the phases, and once more the tests that failed. If the time has passed
// before the end, it names them instead.
func runAll(ctx context.Context, r *report, phases []phase) error {
	err := runPhases(ctx, r, phases)
	if err == nil {
		err = r.again(ctx)
	}
	if ctx.Err() != nil {
		r.unrepeated()
		return errors.Join(context.Cause(ctx), err)
	}
	return err
}
