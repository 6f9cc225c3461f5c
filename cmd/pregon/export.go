package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"pregon/internal/cli"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/durable"
	"pregon/internal/transfer"
)

// compressedSuffix is the end of the names of files that are compressed with zstd.
const compressedSuffix = ".zst"

type exportCmd struct {
	storeFlag
	What      string   `arg:"" enum:"reports,issuers,positions" help:"What to write: reports, issuers or positions (who owns, sells and bets against)."`
	Format    string   `enum:"jsonl,csv,parquet" default:"jsonl" help:"Format: jsonl, csv or parquet. Only jsonl can be imported again."`
	Types     []string `name:"type" placeholder:"ip,oir,hr" help:"With reports: only those of these series."`
	Kinds     []string `name:"kind" placeholder:"short,holding,own_shares,dealing" help:"With positions: only those of these kinds."`
	Issuer    string   `placeholder:"ID|TICKER" help:"Only the reports or positions of an issuer, or only this issuer: its NIF, ISIN, LEI, id, ticker or full name; several, up to 50, with commas between them."`
	From      string   `placeholder:"DATE" help:"With reports: first day of publication in Madrid, as YYYY-MM-DD. With positions: first day of the position or of its registration."`
	To        string   `placeholder:"DATE" help:"With reports and positions: last day."`
	Documents bool     `help:"With reports as jsonl: write the texts of their documents too, each before the first report that has it."`
	Output    string   `short:"o" placeholder:"FILE" help:"File to write. It appears when it is complete, and is compressed with zstd if its name ends in .zst. Default: standard output."`
}

// Run writes the records and a summary to standard error.
func (c *exportCmd) Run(ctx context.Context, p *process) error {
	e, err := c.export(p)
	if err != nil {
		return err
	}
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	source, err := db.Source(ctx)
	if err != nil {
		return err
	}
	if source == "" {
		source = "none"
	}
	snapshot, records, err := c.take(ctx, p, db)
	if err != nil {
		return err
	}
	defer func() {
		_ = records.Close()
		_ = os.Remove(records.Name()) // where an open file cannot be removed
	}()
	total := map[transfer.Kind]int{
		transfer.Reports:   snapshot.Reports,
		transfer.Issuers:   len(snapshot.Issuers),
		transfer.Positions: snapshot.Positions,
	}[e.Kind]
	bar := cli.NewBar(p.stderr, "writing", c.What, int64(total))
	e.Step = func(n int) error {
		if n%500 == 0 { // to draw it takes longer than the records between two steps
			bar.Set(n)
		}
		return nil
	}
	e.About = map[string]string{"cursor": snapshot.Head.String(), "source": source}
	if c.Documents {
		e.Texts = db
	}
	var done transfer.Exported
	err = c.write(p, func(w io.Writer) (err error) {
		done, err = snapshot.Write(ctx, w, records, e)
		return err
	})
	bar.Finish()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stderr, "%d %s as of change %d; source: %s; %swithout earlier versions, original "+
		"documents, keys and webhooks\n",
		done.Records, c.What, snapshot.Head.Seq, source, c.texts(done))
	return err
}

// export checks the flags.
func (c *exportCmd) export(p *process) (e transfer.Export, err error) {
	e = transfer.Export{Kind: transfer.Kind(c.What), Format: transfer.Format(c.Format)}
	days := c.From != "" || c.To != ""
	switch {
	case c.Documents && (c.What != "reports" || e.Format != transfer.JSONLines):
		return e, fault.New(fault.Invalid, "--documents needs reports as jsonl: pregon export reports --documents")
	case len(c.Types) > 0 && e.Kind != transfer.Reports:
		return e, fault.New(fault.Invalid, "--type selects reports: pregon export reports")
	case len(c.Kinds) > 0 && e.Kind != transfer.Positions:
		return e, fault.New(fault.Invalid, "--kind selects positions: pregon export positions")
	case days && e.Kind == transfer.Issuers:
		return e, fault.New(fault.Invalid, "--from and --to select reports or positions: pregon export reports")
	case e.Format == transfer.Parquet && strings.HasSuffix(c.Output, compressedSuffix):
		return e, fault.New(fault.Invalid,
			"--output %q: Parquet is compressed by itself: use a name that ends in .parquet", c.Output)
	case e.Format == transfer.Parquet && c.Output == "" && cli.IsTerminal(p.stdout):
		return e, fault.New(fault.Invalid, "Parquet is binary and is not written to a terminal: name a file with "+
			"--output")
	}
	for _, name := range c.Types {
		t, ok := disclosure.ParseType(strings.ToUpper(name))
		if !ok {
			return e, fault.New(fault.Invalid, "--type %q: use ip, oir or hr, separated by commas", name)
		}
		e.Types = append(e.Types, t)
	}
	for _, name := range c.Kinds {
		k, ok := disclosure.ParsePositionKind(strings.ToLower(name))
		if !ok {
			return e, fault.New(fault.Invalid,
				"--kind %q: use short, holding, own_shares or dealing, separated by commas", name)
		}
		e.Filter.Positions |= disclosure.NewPositionSet(k)
	}
	e.Filter.Issuer = strings.TrimSpace(c.Issuer)
	if e.Filter.From, err = dayFlag("--from", c.From); err != nil {
		return e, err
	}
	if e.Filter.To, err = dayFlag("--to", c.To); err != nil {
		return e, err
	}
	if e.Filter.From != 0 && e.Filter.To != 0 && e.Filter.From > e.Filter.To {
		return e, fault.New(fault.Invalid, "--from %s must not be later than --to %s", c.From, c.To)
	}
	return e, nil
}

// dayFlag reads a day, zero if there is none.
func dayFlag(name, value string) (disclosure.Day, error) {
	d, ok := disclosure.ParseDay(value)
	if value != "" && !ok {
		return 0, fault.New(fault.Invalid, "%s %q must be a date as YYYY-MM-DD, from 1900 on", name, value)
	}
	return d, nil
}

// take reads a snapshot. The records to export are in a file without a name, at its start,
// unless they are issuers.
func (c *exportCmd) take(ctx context.Context, p *process, db store.Log) (*transfer.Snapshot, *os.File, error) {
	file, err := os.CreateTemp("", "pregon-export-")
	if err != nil {
		return nil, nil, err
	}
	_ = os.Remove(file.Name()) // its blocks are freed when it is closed
	var files transfer.Files
	buffered := bufio.NewWriterSize(file, 64<<10)
	switch transfer.Kind(c.What) {
	case transfer.Reports:
		files.Reports = buffered
	case transfer.Positions:
		files.Positions = buffered
	}
	bar := cli.NewBar(p.stderr, "reading", "records", -1)
	snapshot, err := transfer.Take(ctx, db, files, func(n int) error { bar.Set(n); return nil })
	bar.Finish()
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return snapshot, file, nil
}

// texts says in the summary what was written of the texts.
func (c *exportCmd) texts(done transfer.Exported) string {
	switch {
	case c.Documents:
		return fmt.Sprintf("with the texts of %d documents; ", done.Documents)
	case c.What == "reports":
		return "without the texts of documents (--documents); "
	}
	return ""
}

// write calls fn with the output. A file is complete and durable, or does not exist.
func (c *exportCmd) write(p *process, fn func(io.Writer) error) error {
	if c.Output == "" {
		return fn(p.stdout)
	}
	return durable.Replace(c.Output, 0o644, func(w io.Writer) error {
		return compress(w, strings.HasSuffix(c.Output, compressedSuffix), fn)
	})
}

// compress calls fn with a writer that compresses into w, or with w.
func compress(w io.Writer, compressed bool, fn func(io.Writer) error) error {
	if !compressed {
		return fn(w)
	}
	out, err := transfer.NewCompressor(w)
	if err != nil {
		return err
	}
	return errors.Join(fn(out), out.Close())
}
