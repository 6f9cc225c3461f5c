package main

import (
	"context"
	"io"
	"math"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/fault"
	"pregon/internal/store"
)

type documentCmd struct {
	storeFlag
	ID       string `arg:"" help:"Id of the report, such as oir-40374."`
	Original bool   `help:"Write the document's own bytes. Serve keeps them only with --keep-documents or --documents-s3."`
	bucketFlags
}

// Run prints the text of a report's document, or the document.
func (c *documentCmd) Run(ctx context.Context, p *process) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	known, err := db.Reports(ctx, strings.ToLower(c.ID))
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return fault.New(fault.NotFound, "there is no report %s", c.ID)
	}
	d := known[0].DocumentNow()
	if d.Status != disclosure.DocumentReady {
		return fault.New(fault.NotFound, "%s has no stored document; run pregon backfill --documents (%s: %s)",
			known[0].ID, d.Status, d.Reason)
	}
	if c.Original {
		body, err := c.original(ctx, p, db, d.SHA256)
		if err != nil {
			return err
		}
		_, err = p.stdout.Write(body)
		return err
	}
	text, err := document.Load(ctx, db, d.SHA256)
	if fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, "%s has no stored document; run pregon backfill --documents", known[0].ID)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.stdout, document.Plain(document.Cut(text, 0, math.MaxInt32)))
	return err
}

// original returns the bytes of a document from the bucket, if there is one, or from
// the store, which may have kept them before there was one.
func (c *documentCmd) original(ctx context.Context, p *process, db store.Documents, sha256 string) ([]byte, error) {
	places := []document.Originals{db}
	b, err := c.bucket(ctx, p)
	if err != nil {
		return nil, err
	}
	if b != nil {
		places = []document.Originals{b, db}
	}
	for _, place := range places {
		body, err := place.Original(ctx, sha256)
		if fault.KindOf(err) != fault.NotFound {
			return body, err
		}
	}
	return nil, fault.New(fault.NotFound, "the document's own bytes are not kept: serve keeps them with "+
		"--keep-documents or --documents-s3")
}
