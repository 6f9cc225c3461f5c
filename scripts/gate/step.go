package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// step is one part of the checks.
type step struct {
	name string
	run  func(ctx context.Context, r *report) error
}

// phase is a list of lanes, which run at the same time. The steps of a lane run one
// after another.
type phase [][]step

// report prints what happens, and remembers how long each step took and which tests
// failed.
type report struct {
	out   io.Writer
	begun time.Time

	mu     sync.Mutex // guards what follows: lanes run at the same time
	took   []duration
	failed []failure
}

type duration struct {
	name string
	time time.Duration
}

// runPhases runs the phases one after another, and ends at the first that fails. Failed
// tests are not such a failure: they are remembered.
func runPhases(ctx context.Context, r *report, phases []phase) error {
	for _, p := range phases {
		group, ctx := errgroup.WithContext(ctx)
		for _, lane := range p {
			group.Go(func() error { return runLane(ctx, r, lane) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func runLane(ctx context.Context, r *report, lane []step) error {
	for _, s := range lane {
		begun := time.Now()
		r.print("begin  %s", s.name)
		err := s.run(ctx, r)
		took := time.Since(begun)
		r.mu.Lock()
		r.took = append(r.took, duration{s.name, took})
		r.mu.Unlock()
		if err != nil {
			r.print("failed %s, %.0f s: %v", s.name, took.Seconds(), err)
			return fmt.Errorf("%s: %w", s.name, err)
		}
		r.print("end    %s, %.0f s", s.name, took.Seconds())
	}
	return nil
}

// print writes a line with the time since the start.
func (r *report) print(format string, args ...any) {
	since := time.Since(r.begun).Round(time.Second)
	line := fmt.Sprintf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "%3d:%02d  %s\n", int(since.Minutes()), int(since.Seconds())%60, line)
}

// summary prints how long each step took, the longest first.
func (r *report) summary() {
	r.mu.Lock()
	took := slices.Clone(r.took)
	r.mu.Unlock()
	slices.SortStableFunc(took, func(a, b duration) int { return int(b.time - a.time) })
	for _, d := range took {
		r.print("%6.1f s  %s", d.time.Seconds(), d.name)
	}
	r.print("%6.1f s  together", time.Since(r.begun).Seconds())
}

// command returns a step that runs a program, whose output is printed if it fails. env
// has additions to the environment.
func command(name string, env []string, args ...string) step {
	return commandIn(name, "", env, args...)
}

// commandIn is command with a directory.
func commandIn(name, dir string, env []string, args ...string) step {
	return step{name, func(ctx context.Context, r *report) error {
		out, err := output(ctx, dir, env, args...)
		if err != nil {
			r.print("failed: %s\n%s", strings.Join(args, " "), out)
			return err
		}
		return nil
	}}
}

// output runs a program and returns its output and errors as one text.
func output(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	var out bytes.Buffer
	cmd := prepare(ctx, dir, env, args...)
	cmd.Stdout = &out
	cmd.Stderr = &out
	err := cmd.Run()
	return out.String(), err
}

// prepare returns a program that receives an interrupt when the context ends, and is
// killed a while later.
func prepare(ctx context.Context, dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// empty returns a step that fails if a program prints something on its standard output.
// The go command says on the other one what it downloads.
func empty(name, advice string, env []string, args ...string) step {
	return step{name, func(ctx context.Context, r *report) error {
		var out, stderr bytes.Buffer
		cmd := prepare(ctx, "", env, args...)
		cmd.Stdout = &out
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			r.print("%s", &stderr)
			return err
		}
		if out.Len() > 0 {
			r.print("%s:\n%s", advice, &out)
			return errors.New(advice)
		}
		return nil
	}}
}
