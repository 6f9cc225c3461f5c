package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"pregon/internal/cli"
	"pregon/internal/cli/machine"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/fault"
	"pregon/internal/service/documents"
	"pregon/internal/service/sources"
	"pregon/internal/sim/demo"
	"pregon/internal/source/doctor"
)

type doctorCmd struct {
	serveConfig
	Save string `placeholder:"DIR" help:"Write all answers of the source, and the result, into a new directory. --from repeats the run from there. Default: write nothing."`
	From string `placeholder:"DIR" help:"Read the answers from a directory that --save wrote, instead of the network, and do not check this machine. Default: ask the source."`
	JSON bool   `name:"json" help:"Print the result as one JSON object."`
}

// Run checks the source and the machine. It fails if reports would be lost.
func (c *doctorCmd) Run(ctx context.Context, p *process) error {
	if err := c.validate(); err != nil {
		return err
	}
	if c.From != "" && c.Save != "" {
		return fault.New(fault.Invalid, "--save and --from cannot be combined: --from reads what --save wrote")
	}
	e := &examination{
		doctorCmd: c,
		process:   p,
		began:     time.Now().UTC(),
		out:       p.stdout,
		log:       slog.New(slog.DiscardHandler),
	}
	if c.JSON {
		e.out = io.Discard
	}
	reader, err := documents.NewReader(c.cacheDir(e.log), e.log)
	if err != nil {
		return err
	}
	defer reader.Close()
	e.machine.Reader = reader
	if e.books, err = documents.NewBooks(e.log); err != nil {
		return err
	}
	defer e.books.Close()
	if c.From != "" {
		return e.replay(ctx)
	}
	return e.live(ctx)
}

// examination is a run of the command.
type examination struct {
	*doctorCmd
	*process
	began   time.Time
	log     *slog.Logger
	machine machine.Checks
	books   *sandbox.Books
	tape    *doctor.Tape
	out     io.Writer // for people
	checks  []doctor.Check
}

// done prints and keeps a check.
func (e *examination) done(c doctor.Check) {
	e.checks = append(e.checks, c)
	c.Print(e.out)
}

// live checks the source and this machine.
func (e *examination) live(ctx context.Context) error {
	var dir *os.Root
	if e.Save != "" {
		var err error
		if dir, err = doctor.CreateBundle(e.Save); err != nil {
			return err
		}
		defer dir.Close()
	}
	if e.Source == "demo" {
		url, stop, err := demo.Open(ctx, e.log)
		if err != nil {
			return err
		}
		defer stop()
		e.readFrom(url, url)
	}
	e.tape = sources.Record()
	if e.Source == "none" || !e.Role.Ingests() {
		e.done(doctor.Check{Name: "source", Verdict: doctor.Skipped, Found: "not read, because of --source " +
			e.Source + " and --role " + string(e.Role)})
	} else if err := e.examine(ctx, func() time.Time { return e.began }); err != nil {
		return err
	}
	ofSource := e.checks // those of the machine show settings, which are not saved
	if err := e.setMachine(); err != nil {
		return err
	}
	if err := e.machine.Run(ctx, e.done); err != nil {
		return err
	}
	lost := e.conclude()
	if dir != nil {
		b := doctor.Bundle{
			Version:   version,
			At:        e.began,
			Regulator: e.RegulatorURL,
			Exchange:  e.ExchangeURL,
			Checks:    ofSource,
		}
		if err := b.Save(dir, e.tape); err != nil {
			return fmt.Errorf("writing the bundle: %w", err)
		}
		fmt.Fprintf(e.stderr, "the answers are in %s\n", e.Save)
	}
	return lost
}

// replay checks the answers of a bundle, at its time.
func (e *examination) replay(ctx context.Context) error {
	b, tape, err := doctor.LoadBundle(e.From)
	if err != nil {
		return err
	}
	e.tape = tape
	e.readFrom(b.Regulator, b.Exchange)
	e.began = b.At
	if err := e.examine(ctx, func() time.Time { return b.At }); err != nil {
		return err
	}
	return e.conclude()
}

// readFrom reads the source from other addresses, without a pace.
func (e *examination) readFrom(regulator, exchange string) {
	e.RegulatorURL = regulator
	e.ExchangeURL = exchange
	e.Pace = 0
}

// setMachine sets what is checked on this machine, from the settings of serve.
func (e *examination) setMachine() (err error) {
	m := &e.machine
	if m.Store, err = e.address(); err != nil {
		return err
	}
	site := e.site(e.baseURL(e.Listen))
	owner := sources.Settings{Kind: sources.Kind(e.Source), Site: site}
	m.Source = owner.Owner()
	m.Contact.UserAgent = site.UserAgent()
	m.Contact.Missing = e.Contact == "" && site.IsPublic()
	m.CacheDir = e.cacheDir(e.log)
	m.Model = e.modelFlags.settings(e.process).Options(e.log)
	if e.DocumentsS3 != "" {
		m.Buckets = append(m.Buckets, e.bucketOptions(e.process, "--documents-s3", e.DocumentsS3))
	}
	if e.BulkS3 != "" && e.Bulk != "off" {
		m.Buckets = append(m.Buckets, e.bucketOptions(e.process, "--bulk-s3", e.BulkS3))
	}
	if e.Role.Ingests() {
		if m.SnapshotDir, err = e.bulkDir(); err != nil {
			return err
		}
	}
	m.Redis = e.Redis
	m.RedisShown = e.showRedis()
	m.Listen = e.Listen
	m.Skew = e.tape.Skew
	m.Logger = e.log
	return nil
}

// examine reads the surfaces of the source.
func (e *examination) examine(ctx context.Context, now func() time.Time) error {
	return e.site(e.baseURL(e.Listen)).Examine(ctx, doctor.Options{
		Tape:         e.tape,
		Now:          now,
		ReadDocument: e.machine.DescribeDocument,
		ReadWorkbook: e.books.Workbook,
		Done:         e.done,
	})
}

// conclude prints a summary and the result. It returns an error if reports would be lost.
func (e *examination) conclude() error {
	conclusion, ready := doctor.Conclude(e.checks)
	if e.JSON {
		if err := json.NewEncoder(e.stdout).Encode(struct {
			Version    string         `json:"version"`
			At         time.Time      `json:"time"`
			Ready      bool           `json:"ready"`
			Conclusion string         `json:"conclusion"`
			Checks     []doctor.Check `json:"checks"`
		}{version, e.began, ready, conclusion, e.checks}); err != nil {
			return err
		}
	}
	fmt.Fprintln(e.out)
	err := cli.PrintList(e.out, doctor.Summarize(e.checks), false, "CHECK\tVERDICT\tNOTE", func(r doctor.Row) []string {
		return []string{r.Name, string(r.Verdict), r.Note}
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(e.out)
	if !ready {
		return fault.New(fault.Conflict, "%s", conclusion)
	}
	fmt.Fprintln(e.out, conclusion)
	return nil
}
