// Command bench compares Pregón with its peers on the machine it runs on, and
// prints one line for each figure: name, value, unit. Where possible, figures are
// ratios of values measured in the same run, because machines differ and are noisy.
//
// It is a separate module so that the peers are not dependencies of the program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// bench is one run.
type bench struct {
	ctx     context.Context
	dir     string // stores and the program, kept between runs
	program string
	only    *regexp.Regexp
	reports int // to publish while the source is read
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "bare" {
		bareMain(os.Args[2:])
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "pocketbase" {
		pocketbaseMain(os.Args[2:])
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "mercure" {
		mercureMain()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "barestream" {
		bareStreamMain()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "receive" {
		receiveMain()
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "listen" {
		listenMain(os.Args[2:])
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "post" {
		postMain(os.Args[2:])
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "hammer" { // hammer BASE SECONDS: continuous searches, for profiles
		d, _ := time.ParseDuration(os.Args[3])
		reqs := searches(queries(1000))
		if len(os.Args) > 4 {
			reqs = [][]byte{request(os.Args[4])}
		}
		fmt.Println(rate(os.Args[2], reqs, d))
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "corpus" {
		if err := corpusMain(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "load" {
		if err := mixedMain(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "scale" {
		if err := scaleMain(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "flood" {
		floodMain(os.Args[2:])
		return
	}
	only := flag.String("only", ".", "run the groups whose name matches this expression")
	dir := flag.String("dir", "data", "where generated stores are kept between runs")
	reports := flag.Int("filings", 500, "how many reports the group source publishes, one a second")
	program := flag.String("program", "", "measure this program instead of building it, to compare two versions")
	flag.Parse()
	b := &bench{
		ctx:     context.Background(),
		dir:     *dir,
		program: *program,
		only:    regexp.MustCompile(*only),
		reports: *reports,
	}
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// build builds the program, unless one is named.
func (b *bench) build() (err error) {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	if b.program != "" {
		b.program, err = exec.LookPath(b.program)
		return err
	}
	if b.program, err = filepath.Abs(filepath.Join(b.dir, "pregon")); err != nil {
		return err
	}
	build := exec.Command("make", "build", "OUTPUT="+b.program)
	build.Dir = ".." // with the dependency versions of the program
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the program: %w", err)
	}
	return nil
}

func (b *bench) run() error {
	if err := b.build(); err != nil {
		return err
	}
	var failed []error // the other groups are measured
	for _, group := range []struct {
		name string
		run  func() error
	}{
		{"import", b.imports},
		{"export", b.exports},
		{"bulk", b.whileSnapshot},
		{"http", b.http},
		{"pages", b.pages},
		{"auth", b.auth},
		{"fairness", b.fairness},
		{"attack", b.attack},
		{"mcp", b.mcp},
		{"growth", b.growth},
		{"fts5", b.fts5},
		{"worst", b.worst},
		{"pocketbase", b.pocketbase},
		{"load", b.load},
		{"memory", b.memory},
		{"ingest", b.readsDuringIngest},
		{"replicas.appends", b.appends},
		{"append.with_tree", b.appendsWithTree},
		{"proof", b.proofs},
		{"source", b.source},
		{"hr.quarter", b.quarter},
		{"replicas", b.replicas},
		{"past", b.past},
		{"push.fanout", b.fanout},
		{"push.idle", b.streamMemory},
		{"push.webhook", b.webhooks},
		{"push.latency", b.pushLatency},
		{"facts.cpu", b.facts},
		{"facts.memory", b.factMemory},
		{"positions", b.positions},
		{"watchlists", b.watchlists},
		{"text", b.text},
		{"text.ready", b.textReady},
		{"documents", b.documents},
	} {
		if !b.only.MatchString(group.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "#", group.name)
		if err := group.run(); err != nil {
			err = fmt.Errorf("%s: %w", group.name, err)
			fmt.Fprintln(os.Stderr, "#", err)
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// figure prints one line.
func figure(name string, value float64, unit string) {
	fmt.Printf("%s %s %s\n", name, strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", value), "0"), "."), unit)
}
