package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// suite is a call of go test.
type suite struct {
	name     string
	dir      string   // of the module, if it is another one
	env      []string // added to the environment
	flags    []string
	packages []string
	tests    []string // the tests to run; all if there are none
	each     bool     // every test is printed when it ends, not only every package
}

// failure is a package with failed tests, and how to run them again.
type failure struct {
	suite   suite
	name    string // of the package
	tests   []string
	noRetry string // why they are not run again, or empty
}

// step returns the step that runs the suite.
func (s suite) step() step {
	return step{s.name, func(ctx context.Context, r *report) error {
		failed, err := s.run(ctx, r)
		r.mu.Lock()
		r.failed = append(r.failed, failed...)
		r.mu.Unlock()
		return err
	}}
}

// run runs the suite and returns the failures. The error is of something else than a
// test.
func (s suite) run(ctx context.Context, r *report) ([]failure, error) {
	args := slices.Concat([]string{"go", "test", "-json", "-vet=off"}, s.flags)
	if len(s.tests) > 0 {
		args = append(args, "-run", "^("+strings.Join(s.tests, "|")+")$")
	}
	cmd := prepare(ctx, s.dir, s.env, append(args, s.packages...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	results := newResults(s, r)
	if err := results.read(out); err != nil {
		return nil, errors.Join(err, cmd.Wait())
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && len(results.failed) == 0 {
		return nil, fmt.Errorf("%w\n%s", err, &stderr)
	}
	return results.failed, nil
}

// event is a line of `go test -json`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of what is built
	Test       string
	Output     string
	Elapsed    float64
}

// results collects the events of a suite.
type results struct {
	suite  suite
	report *report
	output map[[2]string]*strings.Builder // by package and test
	wrong  map[string][]string            // failed tests, by package
	built  strings.Builder                // output of the compiler
	failed []failure
}

func newResults(s suite, r *report) *results {
	return &results{
		suite:  s,
		report: r,
		output: map[[2]string]*strings.Builder{},
		wrong:  map[string][]string{},
	}
}

func (c *results) read(out io.Reader) error {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("go test -json printed %q: %w", line, err)
		}
		c.add(e)
	}
}

// add handles an event.
func (c *results) add(e event) {
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		c.built.WriteString(e.Output)
	case "output":
		b := c.output[key]
		if b == nil {
			b = new(strings.Builder)
			c.output[key] = b
		}
		b.WriteString(e.Output)
	case "pass", "skip", "fail":
		c.end(e)
	}
}

// end handles the end of a test or a package.
func (c *results) end(e event) {
	name := strings.TrimPrefix(e.Package, "pregon/")
	switch {
	case e.Test == "" && e.Action == "fail":
		c.fail(e, name)
	case e.Test == "":
		if e.Action == "pass" {
			c.report.print("ok     %s %.1f s", name, e.Elapsed)
		}
		for key := range c.output {
			if key[0] == e.Package {
				delete(c.output, key)
			}
		}
	case e.Action == "fail":
		c.report.print("FAIL   %s %s %.1f s\n%s", name, e.Test, e.Elapsed, c.text(e.Package, e.Test))
		if !strings.Contains(e.Test, "/") {
			c.wrong[e.Package] = append(c.wrong[e.Package], e.Test)
		}
	case c.suite.each && e.Action == "pass" && !strings.Contains(e.Test, "/"):
		c.report.print("ok     %s %s %.1f s", name, e.Test, e.Elapsed)
	}
}

func (c *results) text(pkg, test string) string {
	if b := c.output[[2]string{pkg, test}]; b != nil {
		return b.String()
	}
	return ""
}

// final matches what is wrong whatever the machine does.
var final = regexp.MustCompile(`(?m)^(panic|fatal error|signal): |WARNING: DATA RACE|test timed out`)

// fail handles the end of a package with failures.
func (c *results) fail(e event, name string) {
	var all strings.Builder
	for key, b := range c.output {
		if key[0] == e.Package {
			all.WriteString(b.String())
		}
	}
	f := failure{
		suite: c.suite,
		name:  e.Package,
		tests: c.wrong[e.Package],
	}
	if found := final.FindString(all.String()); found != "" {
		f.noRetry = "its output has " + strings.TrimSpace(found)
	} else if len(f.tests) == 0 {
		f.noRetry = "it failed outside its tests"
	}
	if f.noRetry != "" {
		c.report.print("FAIL   %s: %s\n%s%s", name, f.noRetry, c.built.String(), all.String())
	} else {
		c.report.print("FAIL   %s %s", name, strings.Join(f.tests, " "))
	}
	c.failed = append(c.failed, f)
}

// again runs the failed tests once more, one package after another, and returns an
// error if one fails again or must not be run again.
func (r *report) again(ctx context.Context) error {
	var errs []error
	var second []string
	for _, f := range r.failed {
		if f.noRetry != "" {
			errs = append(errs, fmt.Errorf("%s: %s", f.name, f.noRetry))
			continue
		}
		named := f.name + " " + strings.Join(f.tests, " ")
		r.print("once more: %s", named)
		s := f.suite
		s.packages = []string{f.name}
		s.tests = f.tests
		s.flags = append(slices.Clone(s.flags), "-count=1")
		still, err := s.run(ctx, r)
		switch {
		case err != nil:
			errs = append(errs, err)
		case len(still) > 0:
			errs = append(errs, fmt.Errorf("%s failed", named))
		default:
			second = append(second, named)
		}
	}
	for _, named := range second {
		r.print("passed at the second try only: %s", named)
	}
	return errors.Join(errs...)
}

// unrepeated prints the tests that failed, for a run that ended before it could run them
// again.
func (r *report) unrepeated() {
	for _, f := range r.failed {
		r.print("failed: %s %s", f.name, strings.Join(f.tests, " "))
	}
}
