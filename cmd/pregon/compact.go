package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"pregon/internal/auth/usage"
	"pregon/internal/fault"
	"pregon/internal/source/ingest"
	"pregon/internal/store/compact"
	"pregon/internal/store/engine"
	"pregon/internal/store/relational"
)

type compactCmd struct {
	storeFlag
	DryRun          bool `help:"Print the sizes of all tables and what would be removed, and change nothing."`
	KeepDeliveries  int  `default:"30" placeholder:"DAYS" help:"Days for which deliveries to webhooks are kept after they were delivered or given up."`
	KeepCounts      int  `default:"400" placeholder:"DAYS" help:"Days for which counts of usage are kept."`
	UnusedOriginals bool `help:"Remove the bytes of documents that no report has any more (see --keep-documents). They cannot be read again. Refused while a process reads the source."`
}

const oneDay = 24 * time.Hour

// Run removes what the flags allow, and prints the sizes before and after.
func (c *compactCmd) Run(ctx context.Context, p *process) error {
	if c.KeepDeliveries < 1 || c.KeepCounts < 1 || c.KeepCounts > usage.Retention {
		return fault.New(fault.Invalid, "--keep-deliveries must be at least 1 day, and --keep-counts from 1 to %d days", usage.Retention)
	}
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	before, err := db.Tables(ctx)
	if err != nil {
		return err
	}
	o := compact.Options{
		Deliveries: time.Duration(c.KeepDeliveries) * oneDay,
		CountDays:  c.KeepCounts,
		Texts:      7 * oneDay,
		Originals:  c.UnusedOriginals,
	}
	plan, err := compact.Plan(ctx, db, o, before)
	if err != nil {
		return err
	}
	if c.DryRun {
		printSizes(p.stdout, before, nil)
		printPlan(p.stdout, "would remove", plan)
		return nil
	}
	lease := ingest.NewCommandLease(db)
	defer lease.Release(ctx)
	hold := func(ctx context.Context) error { _, err := lease.Hold(ctx); return err }
	if err := compact.Remove(ctx, db, o, hold); err != nil {
		return err
	}
	space, err := returnSpace(ctx, db, hold)
	if err != nil {
		return err
	}
	after, err := db.Tables(ctx)
	if err != nil {
		return err
	}
	printSizes(p.stdout, before, after)
	printPlan(p.stdout, "removed", plan)
	fmt.Fprintln(p.stdout, space)
	return nil
}

// returnSpace returns unused space to the file system, and describes the result.
func returnSpace(ctx context.Context, db engine.Store, hold func(context.Context) error) (string, error) {
	size, err := db.Size(ctx)
	if err != nil {
		return "", err
	}
	space, unused, err := compact.ReturnSpace(ctx, db, size, hold)
	switch {
	case space == compact.Kept && fault.KindOf(err) == fault.Conflict:
		return fmt.Sprintf("%s of the file are free and are used for new data; they are not returned to the "+
			"file system, since that needs a rewrite of the file: %v", mega(unused), err), nil
	case err != nil:
		return "", err
	case space == compact.Kept:
		return mega(unused) + " of the file are free and could not be returned, since other processes use the " +
			"file; repeat the command", nil
	case space == compact.Little:
		return mega(unused) + " of the file are free and are used for new data", nil
	case space == compact.Server:
		return "the server uses the space of removed rows for new data (autovacuum); VACUUM FULL returns it " +
			"to the file system", nil
	}
	return mega(unused) + " were returned to the file system", nil
}

func mega(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// printSizes prints the tables; after may be nil.
func printSizes(w io.Writer, before, after []relational.Table) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	header := []string{"table", "rows", "bytes"}
	if after != nil {
		header = append(header, "rows after", "bytes after")
	}
	fmt.Fprintln(t, strings.Join(header, "\t")+"\t")
	later, sum := map[string]relational.Table{}, [2]int64{}
	for _, a := range after {
		later[a.Name] = a
		sum[1] += a.Bytes
	}
	for _, b := range before {
		sum[0] += b.Bytes
		fmt.Fprintf(t, "%s\t%d\t%d\t", b.Name, b.Rows, b.Bytes)
		if after != nil {
			fmt.Fprintf(t, "%d\t%d\t", later[b.Name].Rows, later[b.Name].Bytes)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintf(t, "total\t\t%d\t", sum[0])
	if after != nil {
		fmt.Fprintf(t, "\t%d\t", sum[1])
	}
	fmt.Fprintln(t)
	_ = t.Flush() // a failure to print changes nothing
}

func printPlan(w io.Writer, verb string, plan []compact.Removed) {
	for _, r := range plan {
		fmt.Fprintf(w, "%s %s: %d rows, about %s\n", verb, r.What, r.Rows, mega(r.Bytes))
	}
}
