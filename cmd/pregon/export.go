package main

import (
	"bufio"
	"context"
	"encoding/json"

	"pregon/internal/disclosure"
)

type exportCmd struct {
	storeFlag
	What string `arg:"" enum:"reports,issuers" help:"What to write: reports or issuers."`
}

// Run writes everything as of one moment, in the form that import reads.
func (c *exportCmd) Run(ctx context.Context, p *process) error {
	db, err := c.open(ctx, false)
	if err != nil {
		return err
	}
	defer db.Close()
	out := bufio.NewWriterSize(p.stdout, 64<<10)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	_, err = db.Current(ctx, func(ch disclosure.Change) error {
		switch {
		case ch.Report != nil && c.What == "reports":
			return lines.Encode(ch.Report)
		case ch.Issuer != nil && c.What == "issuers":
			return lines.Encode(ch.Issuer)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}
