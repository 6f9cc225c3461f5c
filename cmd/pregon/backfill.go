package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"pregon/internal/cli"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/service/backfill"
	"pregon/internal/source/coverage"
	"pregon/internal/source/ingest"
)

type backfillCmd struct {
	newStoreFlags
	sourceFlags
	From    string `placeholder:"DATE" help:"First day, as YYYY-MM-DD. Required, unless --numbers is given."`
	To      string `placeholder:"DATE" help:"Last day. Default: today."`
	Numbers string `placeholder:"FIRST-LAST" help:"Range of registration numbers to look up one by one, in place of days, in one --type. Finds HR that no list shows."`
	documentFlags
	Documents bool     `help:"Read the reports' documents too: their text, and a summary of it. Those that failed before are tried again."`
	Types     []string `name:"type" default:"ip,oir,hr" placeholder:"ip,oir,hr" help:"Series to load. HR is read entity by entity, which takes longest."`
}

// Run requests the history from the service that reads the source, or loads it
// itself if there is none. It continues where an earlier run stopped.
func (c *backfillCmd) Run(ctx context.Context, p *process) error {
	job, err := c.job()
	if err != nil {
		return err
	}
	if err := c.sourceFlags.validate(); err != nil {
		return err
	}
	db, err := c.openOrCreate(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	logger := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	settings, err := c.documentFlags.settings(p, logger)
	if err != nil {
		return err
	}
	view := &progress{w: p.stderr}
	job, err = backfill.Run(ctx, job, backfill.Options{
		Store:     db,
		Site:      c.site(""),
		Documents: settings,
		Logger:    logger,
		Progress:  view.show,
	})
	view.end()
	if errors.Is(err, context.Canceled) {
		return view.interrupted(job)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%d new, %d updated, %d unchanged\n", job.New, job.Updated, job.Unchanged)
	if job.Documents {
		fmt.Fprintf(p.stdout, "%d documents read, %d not\n", job.Read, job.Failed)
	}
	if len(job.Unread) > 0 {
		return fault.New(fault.Unavailable,
			"%d steps could not be read completely, because their pages have an unknown format: %s", len(job.Unread),
			strings.Join(job.Unread, ", "))
	}
	return nil
}

func (c *backfillCmd) job() (coverage.Job, error) {
	types, err := c.types()
	if err != nil {
		return coverage.Job{}, err
	}
	read := c.days
	if c.Numbers != "" {
		read = c.numbers
	}
	job, err := read(types)
	if err == nil && c.Documents {
		job = job.WithDocuments()
	}
	return job, err
}

// registerBegins is the first day of the oldest series, HR.
const registerBegins = "1988-07-01"

// numbers returns the job of --numbers.
func (c *backfillCmd) numbers(types []disclosure.Type) (coverage.Job, error) {
	const most = 1_000_000 // more than all series have
	if c.From != "" || c.To != "" {
		return coverage.Job{}, fault.New(fault.Invalid,
			"--numbers cannot be combined with --from and --to: give a range of numbers or of days")
	}
	if len(types) != 1 {
		return coverage.Job{}, fault.New(fault.Invalid, "--numbers needs one series, because each series has its "+
			"own numbers: add --type hr, --type ip or --type oir")
	}
	a, b, _ := strings.Cut(c.Numbers, "-")
	first, ok := disclosure.ParseNumber(a)
	last, fine := disclosure.ParseNumber(b)
	if !ok || !fine || first > last || last-first >= most {
		return coverage.Job{}, fault.New(fault.Invalid, "--numbers %q must be the first and the last number "+
			"with a dash between them, such as 300000-316728, and at most %d numbers", c.Numbers, most)
	}
	from, _ := disclosure.ParseDay(registerBegins)
	return coverage.NewNumbersJob(types[0], first, last, from, disclosure.DayOf(time.Now())), nil
}

func (c *backfillCmd) days(types []disclosure.Type) (coverage.Job, error) {
	today := disclosure.DayOf(time.Now())
	to := today
	if c.From == "" {
		return coverage.Job{}, fault.New(fault.Invalid,
			"--from is missing: give the first day as YYYY-MM-DD, or a range of numbers with --numbers")
	}
	from, ok := disclosure.ParseDay(c.From)
	if !ok {
		return coverage.Job{}, fault.New(fault.Invalid, "--from %q must be a date as YYYY-MM-DD", c.From)
	}
	if c.To != "" {
		if to, ok = disclosure.ParseDay(c.To); !ok {
			return coverage.Job{}, fault.New(fault.Invalid, "--to %q must be a date as YYYY-MM-DD", c.To)
		}
	}
	first, _ := disclosure.ParseDay(registerBegins)
	if from > to || to > today || from < first {
		return coverage.Job{}, fault.New(fault.Invalid, "the days from %s to %s must be in order, and between %s, "+
			"when the register begins, and today", from, to, first)
	}
	return coverage.NewJob(from, to, types), nil
}

func (c *backfillCmd) types() (types []disclosure.Type, err error) {
	for _, s := range c.Types {
		t, ok := disclosure.ParseType(strings.ToUpper(strings.TrimSpace(s)))
		if !ok {
			return nil, fault.New(fault.Invalid, "--type %q: use ip, oir or hr, separated by commas", s)
		}
		types = append(types, t)
	}
	return types, nil
}

// progress shows the progress of a back-fill and the reason of a delay.
type progress struct {
	w       io.Writer
	bar     *cli.Bar
	total   int
	ours    bool
	trouble string
	began   time.Time
}

func (v *progress) show(job coverage.Job, ours bool) {
	if v.began.IsZero() {
		v.began = time.Now()
	}
	if v.bar == nil && !ours && !job.Done && time.Since(v.began) < ingest.StaleLease {
		return
	}
	if v.bar == nil || ours != v.ours {
		who := "by the service that reads the source"
		if ours {
			who = "by this process: no service reads the source"
		}
		what := job.From + " to " + job.To
		if job.ByNumber() {
			what = fmt.Sprintf("%s %d to %d", job.Types[0], job.First, job.Last)
		}
		v.say("loading %s, %s", what, who)
	}
	if v.bar == nil || v.total != job.Total {
		v.bar = cli.NewBar(v.w, "loading", "steps", int64(max(job.Total, 1)), progressbar.OptionShowCount())
	}
	v.ours, v.total = ours, job.Total
	if job.Trouble != "" && job.Trouble != v.trouble {
		v.say("trying again: %s", job.Trouble)
	}
	v.trouble = job.Trouble
	v.bar.Set(job.Steps)
}

// interrupted returns the error of a back-fill that was stopped: its progress, and
// which process continues.
func (v *progress) interrupted(job coverage.Job) error {
	far := "before the first step"
	if job.Steps > 0 {
		far = fmt.Sprintf("after %d of %d steps", job.Steps, job.Total)
	}
	who := "the same command continues where it stopped, and so does a serve that reads the source"
	switch {
	case v.bar != nil && v.ours:
		who = "no service reads the source: the same command continues where it stopped, and so does the next serve"
	case v.bar != nil:
		who = "the service that reads the source continues; the same command shows how far it is"
	}
	return fault.New(fault.Unavailable, "interrupted %s; %s", far, who)
}

func (v *progress) say(format string, args ...any) {
	if v.bar != nil {
		v.bar.Clear()
	}
	fmt.Fprintf(v.w, format+"\n", args...)
}

func (v *progress) end() {
	if v.bar != nil {
		v.bar.Finish()
	}
}
