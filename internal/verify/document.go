package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"pregon/internal/document"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// checkTexts decodes the text of every document.
func (c *Checker) checkTexts(ctx context.Context) error {
	reports := c.reportsByText()
	return c.eachKey(ctx, "reading texts", c.base.Documents, func(key string) error {
		h, ok := parseHash(key)
		if !ok {
			return nil // checkReadyTexts has found it
		}
		_, err := document.Load(ctx, c.db, key)
		switch {
		case err == nil || fault.KindOf(err) == fault.NotFound: // it was removed meanwhile
			return nil
		case ctx.Err() != nil || fault.KindOf(err) == fault.Unavailable:
			return err
		}
		f := Finding{
			Kind:       TextBroken,
			Where:      "document " + key,
			Text:       err.Error(),
			Repairable: true,
		}
		for _, id := range reports[h] {
			f.Repairable = f.Repairable && c.log.subjects[reportOf(id)].link
		}
		if f.Repairable {
			c.broken.texts = append(c.broken.texts, key)
			c.broken.lost = append(c.broken.lost, reports[h]...)
		}
		c.found(f)
		return nil
	})
}

// reportsByText returns the reports that have a document, by its hash.
func (c *Checker) reportsByText() map[hash][]string {
	reports := map[hash][]string{}
	for s, now := range c.log.subjects {
		if now.ready {
			reports[now.text] = append(reports[now.text], s.id)
		}
	}
	return reports
}

// checkOriginals compares the bytes of documents in the store with their hashes.
func (c *Checker) checkOriginals(ctx context.Context) error {
	return c.eachKey(ctx, "reading documents", `original`, func(key string) error {
		body, err := c.db.Original(ctx, key)
		switch {
		case fault.KindOf(err) == fault.NotFound && store.IsHash(key):
			return nil // it was removed meanwhile
		case err != nil && store.IsHash(key):
			return err
		}
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != key {
			c.found(Finding{
				Kind:  Bytes,
				Where: "document " + key,
				Text:  fmt.Sprintf("its %d bytes have the SHA-256 %x", len(body), sum),
			})
		}
		return nil
	})
}

// checkBucket reads the documents of all reports from the bucket, if there is one.
func (c *Checker) checkBucket(ctx context.Context) error {
	if c.o.Originals == nil {
		return nil
	}
	done, total := int64(0), int64(0)
	reports := c.reportsByText()
	total = int64(len(reports))
	for h, ids := range reports {
		_, err := c.o.Originals.Original(ctx, h.String())
		switch {
		case err == nil:
		case fault.KindOf(err) == fault.NotFound:
			c.found(Finding{
				Kind:  NoBytes,
				Where: "report " + ids[0],
				Text:  fmt.Sprintf("the bucket does not have its document %s", h),
			})
		case errors.Is(err, store.ErrDamaged):
			c.found(Finding{Kind: Bytes, Where: "report " + ids[0], Text: err.Error()})
		default:
			return err
		}
		done++
		c.progress("reading the bucket", done, total)
	}
	return nil
}
