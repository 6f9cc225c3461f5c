package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pregon/internal/cli"
	"pregon/internal/fault"
	"pregon/internal/proof/remote"
	"pregon/internal/query"
	"pregon/internal/source/ingest"
	"pregon/internal/store"
	"pregon/internal/store/engine"
	"pregon/internal/verify"
)

type verifyCmd struct {
	storeFlag
	bucketFlags
	Repair bool `help:"Rebuild everything that can be derived from the log or read again. The log itself is never changed. Refused while a process reads the source."`
	JSON   bool `name:"json" help:"Print each finding as a JSON object on a line of its own."`
	Most   int  `name:"max-findings" default:"20" placeholder:"N" help:"Findings of each kind to print; the others are counted. 0 prints all."`
	logFlags
	Report string `arg:"" optional:"" name:"report.json" help:"A report or position, as GET /api/v1/reports/ID or GET /api/v1/positions/ID returns it. With proof.json: checks, without a network, that the log has it."`
	Proof  string `arg:"" optional:"" name:"proof.json" help:"Its proof, as GET /api/v1/reports/ID/proof or GET /api/v1/positions/ID/proof returns it."`
}

// Run checks a store, a log or a report.
func (c *verifyCmd) Run(ctx context.Context, p *process) error {
	if err := c.validate(); err != nil {
		return err
	}
	switch {
	case c.Report != "":
		return c.verifyReport(p)
	case c.Log != "":
		return c.verifyLog(ctx, p)
	}
	return c.verifyStore(ctx, p)
}

// validate rejects flags that have no effect on what is checked.
func (c *verifyCmd) validate() error {
	switch {
	case c.Report != "" && c.Proof == "":
		return fault.New(fault.Invalid, "give the report and its proof: pregon verify report.json proof.json")
	case c.Report != "" && c.Log != "":
		return fault.New(fault.Invalid, "--log checks a log, report.json and proof.json a report: give one of them")
	case (c.Report != "" || c.Log != "") && (c.Repair || c.JSON):
		return fault.New(fault.Invalid, "--repair and --json are for a store: leave them out")
	case c.Log == "" && (c.Follow || c.Entries):
		return fault.New(fault.Invalid, "--follow and --entries need --log")
	case c.Log == "" && c.Report == "" && c.Since == "" && c.VKey != "":
		return fault.New(fault.Invalid, "--vkey needs --since, --log, or report.json and proof.json")
	case c.Every < time.Second || c.Every > 24*time.Hour:
		return fault.New(fault.Invalid, "--every %v must be from 1s to 24h", c.Every)
	}
	return nil
}

// verifyReport checks a report and its proof without a network.
func (c *verifyCmd) verifyReport(p *process) error {
	history, keys, err := c.known(p)
	if err != nil {
		return err
	}
	check := remote.ReportCheck{
		Report:   c.Report,
		Proof:    c.Proof,
		History:  history,
		Keys:     keys,
		Fields:   query.RecordFields,
		Compared: func(same []string) { fmt.Fprintf(p.stdout, "as in the log: %s\n", strings.Join(same, ", ")) },
	}
	place, err := check.Run()
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "verified: %s\n", place)
	return nil
}

// verifyStore checks the store, and repairs it if that is requested. It fails if there are
// findings, unless all were repaired.
func (c *verifyCmd) verifyStore(ctx context.Context, p *process) error {
	if c.Most < 0 {
		return fault.New(fault.Invalid, "--max-findings %d must be 0 or more", c.Most)
	}
	o := verify.Options{Most: c.Most}
	if err := c.compareWith(p, &o); err != nil {
		return err
	}
	bucket, err := c.bucket(ctx, p)
	if err != nil {
		return err
	}
	address, err := c.address()
	if err != nil {
		return err
	}
	open := address.OpenComplete
	if c.Repair {
		open = func(ctx context.Context) (engine.Store, error) { return address.Open(ctx, false) }
	}
	db, err := open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if bucket != nil {
		o.Originals = bucket
	}
	checked, err := c.check(ctx, p, db, o)
	if err != nil {
		return err
	}
	if c.Repair && len(checked.Counts()) > 0 {
		if err := repairStore(ctx, db, checked); err != nil {
			return err
		}
		fmt.Fprintln(p.stderr, "repaired; checking again. Restart processes that use the store: they hold its "+
			"former state in memory.")
		if checked, err = c.check(ctx, p, db, o); err != nil {
			return err
		}
	}
	return c.summarize(p, checked.Counts())
}

// compareWith adds the checkpoint of --since to what the store is compared with.
func (c *verifyCmd) compareWith(p *process, o *verify.Options) error {
	if c.Since == "" {
		return nil
	}
	h, keys, err := c.known(p)
	if err != nil {
		return err
	}
	if !h.Exists() {
		return fault.New(fault.NotFound, "--since: there is no checkpoint %s", c.Since)
	}
	if err := h.Verify(keys); err != nil {
		return fmt.Errorf("--since: %w", err)
	}
	o.Root = h.Checkpoint.Root
	o.Size = h.Checkpoint.Size
	o.Kept = h.Leaves()
	return nil
}

// check checks the store and prints the findings.
func (c *verifyCmd) check(ctx context.Context, p *process, db engine.Store, o verify.Options) (*verify.Checker, error) {
	bars := &stageBars{p: p}
	defer bars.finish()
	o.Progress = bars.set
	o.Found = func(f verify.Finding) {
		bars.clear()
		if c.JSON {
			_ = json.NewEncoder(p.stdout).Encode(f) // as Fprintln: a failure to print is not one of the store
			return
		}
		fmt.Fprintln(p.stdout, f)
	}
	checker := verify.New(db, o)
	return checker, checker.Run(ctx)
}

// summarize prints how many findings there are, and fails if there are any.
func (c *verifyCmd) summarize(p *process, counts map[verify.Kind]int) error {
	if len(counts) == 0 {
		if !c.JSON {
			fmt.Fprintf(p.stdout, "%s has no findings\n", c.show())
		}
		return nil
	}
	total, parts := 0, []string(nil)
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		total += counts[kind]
		parts = append(parts, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	return fault.New(fault.Conflict, "%s has %d findings: %s", c.show(), total, strings.Join(parts, ", "))
}

// repairStore repairs the store while it holds the lease of ingest, so that no other
// process appends what it reads from the source.
func repairStore(ctx context.Context, db store.Leases, checked *verify.Checker) error {
	lease := ingest.NewCommandLease(db)
	defer lease.Release(ctx)
	if _, err := lease.Hold(ctx); err != nil {
		return err
	}
	return checked.Repair(ctx, lease.Hold)
}

// stageBars shows a bar for each stage of a command.
type stageBars struct {
	p     *process
	stage string
	bar   *cli.Bar
}

func (b *stageBars) set(stage string, done, total int64) {
	if b.bar == nil || stage != b.stage {
		b.finish()
		b.stage, b.bar = stage, cli.NewBar(b.p.stderr, stage, "rows", total)
	}
	b.bar.Set(int(done))
}

func (b *stageBars) clear() {
	if b.bar != nil {
		b.bar.Clear()
	}
}

func (b *stageBars) finish() {
	if b.bar != nil {
		b.bar.Finish()
	}
}
