package verify

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// checkPointers compares the tables of reports, issuers and positions with the log.
func (c *Checker) checkPointers(ctx context.Context, tx relational.Tx) error {
	for _, of := range []disclosure.Subject{disclosure.OfReport, disclosure.OfIssuer, disclosure.OfPosition} {
		s, seq := subject{of: of}, int64(0)
		err := relational.Each(ctx, tx, []any{&s.id, &seq}, func() error {
			want, known := c.log.subjects[s]
			switch {
			case !known:
				c.pointer(s, fmt.Sprintf("it leads to change %d, and the log has no change of it", seq))
			case want.seq != seq:
				c.pointer(s, fmt.Sprintf("it leads to change %d, and the newest is change %d", seq, want.seq))
			}
			if known {
				want.pointed = true
				c.log.subjects[s] = want
			}
			return nil
		}, `SELECT id, seq FROM `+s.table())
		if err != nil {
			return err
		}
	}
	for _, s := range c.log.which(func(now state) bool { return !now.pointed }) {
		c.pointer(s, fmt.Sprintf("it is missing, and the newest change is %d", c.log.subjects[s].seq))
	}
	return nil
}

func (c *Checker) pointer(s subject, text string) {
	c.broken.pointers = append(c.broken.pointers, s)
	c.found(Finding{Kind: Pointer, Where: s.String(), Text: text})
}

// checkFiled compares the table of the reports' documents with the log.
func (c *Checker) checkFiled(ctx context.Context, tx relational.Tx) error {
	var report, sha256 string
	err := relational.Each(ctx, tx, []any{&report, &sha256}, func() error {
		s := reportOf(report)
		want, known := c.log.subjects[s]
		switch {
		case want.unknown:
		case !known || !want.ready:
			c.filed(report, fmt.Sprintf("it has the document %q, and by the log it has none", sha256))
		case want.text.String() != sha256:
			c.filed(report, fmt.Sprintf("it has the document %q, and by the log %s", sha256, want.text))
		}
		if known {
			want.filed = true
			c.log.subjects[s] = want
		}
		return nil
	}, c.base.FiledDocuments)
	if err != nil {
		return err
	}
	for _, s := range c.log.which(func(now state) bool { return now.ready && !now.filed }) {
		c.filed(s.id, fmt.Sprintf("its document %s is missing", c.log.subjects[s].text))
	}
	return nil
}

func (c *Checker) filed(report, text string) {
	c.broken.filed = append(c.broken.filed, report)
	c.found(Finding{Kind: Filed, Where: "report " + report, Text: text})
}

// checkReadyTexts checks that the texts of the reports' documents are stored.
func (c *Checker) checkReadyTexts(ctx context.Context, tx relational.Tx) error {
	stored, sha256 := map[hash]bool{}, ""
	err := relational.Each(ctx, tx, []any{&sha256}, func() error {
		if h, ok := parseHash(sha256); ok {
			stored[h] = true
			return nil
		}
		c.found(Finding{
			Kind:       TextBroken,
			Where:      fmt.Sprintf("document %q", sha256),
			Text:       "this is not a SHA-256",
			Repairable: true,
		})
		c.broken.texts = append(c.broken.texts, sha256)
		return nil
	}, `SELECT sha256 FROM `+c.base.Documents)
	if err != nil {
		return err
	}
	for _, s := range c.log.which(func(now state) bool { return now.ready && !stored[now.text] }) {
		want := c.log.subjects[s]
		f := Finding{
			Kind:       TextMissing,
			Where:      s.String(),
			Text:       fmt.Sprintf("the text of its document %s is missing", want.text),
			Repairable: want.link,
		}
		if want.link {
			c.broken.lost = append(c.broken.lost, s.id)
		} else {
			f.Text += ", and it has no link from which to fetch it"
		}
		c.found(f)
	}
	return nil
}

// checkEvidence checks that the evidence of the reports' facts is stored. It cannot be
// repaired: the service makes it only when it examines a document again.
func (c *Checker) checkEvidence(ctx context.Context, tx relational.Tx) error {
	stored, sha256 := map[hash]bool{}, ""
	err := relational.Each(ctx, tx, []any{&sha256}, func() error {
		if h, ok := parseHash(sha256); ok {
			stored[h] = true
		}
		return nil
	}, `SELECT sha256 FROM original`)
	if err != nil {
		return err
	}
	for _, s := range c.log.which(func(now state) bool { return now.proved && !stored[now.detail] }) {
		c.found(Finding{
			Kind:  NoEvidence,
			Where: s.String(),
			Text:  fmt.Sprintf("the evidence %s of its facts is missing; they are shown without it", c.log.subjects[s].detail),
		})
	}
	return nil
}

func parseHash(sha256 string) (h hash, ok bool) {
	if !store.IsHash(sha256) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(sha256))
	return h, err == nil
}

// which returns the subjects that meet a condition, in the order of their newest
// changes.
func (l *replay) which(meets func(state) bool) (found []subject) {
	for s, now := range l.subjects {
		if meets(now) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b subject) int { return cmp.Compare(l.subjects[a].seq, l.subjects[b].seq) })
	return found
}
