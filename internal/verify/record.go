package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store/relational"
)

// inJSON are the kinds of records whose text is JSON.
var inJSON = []string{"account", "key", "push-key", "signing-key", "stream-ticket", "webhook"}

// checkRecords checks the records and what is stored beside them, in one snapshot.
func (c *Checker) checkRecords(ctx context.Context) error {
	return c.base.Snapshot(ctx, func(tx relational.Tx) error {
		for _, table := range []struct{ rows, head string }{
			{`record`, `record_head`},
			{`(SELECT 'coverage' AS kind, name AS id, text AS body, revision FROM note) AS note`, `note_head`},
		} {
			if err := c.checkRecordTable(ctx, tx, table.rows, table.head); err != nil {
				return err
			}
		}
		for _, check := range []func(context.Context, relational.Tx) error{c.checkUsage, c.checkSettings} {
			if err := check(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *Checker) checkRecordTable(ctx context.Context, tx relational.Tx, table, head string) error {
	var newest int64
	found, err := relational.One(ctx, tx, []any{&newest}, `SELECT revision FROM `+head)
	if err != nil {
		return err
	}
	if !found {
		c.found(Finding{Kind: Record, Where: head, Text: "the counter of the records is missing"})
	}
	var kind, id, body string
	var revision, before int64
	return relational.Each(ctx, tx, []any{&kind, &id, &body, &revision}, func() error {
		problem := ""
		switch {
		case revision < 1 || revision > newest:
			problem = fmt.Sprintf("it has the revision %d, and the newest is %d", revision, newest)
		case revision == before:
			problem = fmt.Sprintf("another record has its revision %d too", revision)
		case body != "" && slices.Contains(inJSON, kind) && !json.Valid([]byte(body)):
			problem = "its text is not valid JSON"
		}
		before = revision
		if problem != "" {
			c.found(Finding{Kind: Record, Where: kind + " " + id, Text: problem})
		}
		return nil
	}, `SELECT kind, id, body, revision FROM `+table+` ORDER BY revision`)
}

// longestNonce is more than any name is taken for.
const longestNonce = 366 * 24 * time.Hour

func (c *Checker) checkUsage(ctx context.Context, tx relational.Tx) error {
	var name, day, operation string
	var n int64
	err := relational.Each(ctx, tx, []any{&name, &day, &operation, &n}, func() error {
		if _, ok := disclosure.ParseDay(day); !ok || n < 1 {
			c.found(Finding{
				Kind:  Usage,
				Where: fmt.Sprintf("count of %s by %s on %s", operation, name, day),
				Text:  fmt.Sprintf("the day or the number %d is not possible", n),
			})
		}
		return nil
	}, `SELECT owner, day, operation, n FROM use_count`)
	if err != nil {
		return err
	}
	err = relational.Each(ctx, tx, []any{&name}, func() error {
		c.found(Finding{Kind: Usage, Where: "use of " + name, Text: "the first use is after the last"})
		return nil
	}, `SELECT name FROM use_mark WHERE first_at > last_at ORDER BY name`)
	if err != nil {
		return err
	}
	return relational.Each(ctx, tx, []any{&name}, func() error {
		c.found(Finding{Kind: Usage, Where: "nonce " + name, Text: "it is claimed for more than a year"})
		return nil
	}, `SELECT name FROM once WHERE until > $1 ORDER BY name`, time.Now().Add(longestNonce))
}

func (c *Checker) checkSettings(ctx context.Context, tx relational.Tx) error {
	var name, value string
	err := relational.Each(ctx, tx, []any{&name, &value}, func() error {
		ok := true
		switch name {
		case "source":
			ok = value == "cnmv" || value == "demo"
		case "created_at":
			_, err := time.Parse(time.RFC3339, value)
			ok = err == nil
		}
		if !ok {
			c.found(Finding{Kind: Setting, Where: "setting " + name, Text: fmt.Sprintf("%q is not possible", value)})
		}
		return nil
	}, `SELECT name, value FROM setting`)
	if err != nil {
		return err
	}
	return relational.Each(ctx, tx, []any{&name}, func() error {
		c.found(Finding{Kind: Setting, Where: "lease " + name, Text: "its term is below 1"})
		return nil
	}, `SELECT name FROM lease WHERE term < 1 ORDER BY name`)
}
