package ingest

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/source/regulator"
)

// register reads a register page by page. Rows that cannot be read do not hide
// those behind them.
func (r *roll) register(ctx context.Context, name string, read func(context.Context, int) (regulator.Entities, error)) error {
	var broken error // the first trouble with rows
	seen := map[string]bool{}
	pages := 1
	for page := 0; page < min(pages, mostPages); page++ {
		list, err := read(ctx, page)
		var fresh []regulator.Entity
		for _, e := range list.Entities {
			if key := e.Name + e.NIF; !seen[key] {
				seen[key] = true
				fresh = append(fresh, e)
			}
		}
		if kept := r.entities(ctx, fresh); kept != nil {
			return kept
		}
		pages = max(pages, list.Pages)
		if page == 0 && fault.KindOf(err) == fault.NotFound {
			// Whatever waits for the registers does not wait for one that is gone.
			return lacking{fmt.Errorf("%s: %w", name, err)}
		}
		if err != nil && (!partly(err) || len(fresh) == 0 && page+1 < pages) {
			return fmt.Errorf("%s, page %d: %w", name, page+1, err)
		}
		broken = cmp.Or(broken, err)
		if len(fresh) == 0 {
			break // past its end a list may go on for ever
		}
	}
	return lackingRows(broken)
}

// entities keeps what a register tells. An issuer that is known under another
// of its identifiers keeps its id. Where two rows name it differently, the
// first counts: else each refresh would rename it twice.
func (r *roll) entities(ctx context.Context, entities []regulator.Entity) error {
	var out []disclosure.Issuer
	for n := range entities {
		i := entities[n].Issuer()
		if known, ok := r.find(i.Keys()...); ok && known.ID != i.ID {
			i.Aliases = append(i.Aliases, i.ID)
			i.ID = known.ID
		}
		if name, ok := r.named[i.ID]; ok {
			i.Name, i.Kind = name, ""
		}
		r.named[i.ID] = i.Name
		out = append(out, i)
	}
	return r.append(ctx, out)
}

// openData reads the newest package of the funds' register if it is another
// than last time.
func (r *roll) openData(ctx context.Context, client *regulator.Client) error {
	const memo = "opendata"
	year := time.Now().In(disclosure.Madrid).Year()
	packages, err := client.OpenData(ctx, year)
	if err == nil && len(packages) == 0 {
		packages, err = client.OpenData(ctx, year-1) // in January
	}
	if err != nil || len(packages) == 0 {
		return err
	}
	newest := packages[0]
	for _, p := range packages {
		if p.Month > newest.Month {
			newest = p
		}
	}
	label := fmt.Sprintf("%d-%02d %s", newest.Year, newest.Month, newest.Link)
	before := r.s.Coverage.Value(memo)
	if strings.HasPrefix(before, label) {
		return nil
	}
	records, digest, broken := client.FundRecords(ctx, newest)
	if broken != nil && len(records) == 0 {
		return broken
	}
	if err := r.append(ctx, r.funds(records)); err != nil {
		return err
	}
	if broken != nil {
		return lackingRows(broken)
	}
	return notKept(r.s.Coverage.SetValue(ctx, r.s.lease, memo, label+" "+hex.EncodeToString(digest[:8])))
}

// funds returns what records tell: ISINs, manager and depositary, and funds that
// no list shows.
func (r *roll) funds(records []regulator.FundRecord) []disclosure.Issuer {
	var out []disclosure.Issuer
	for _, record := range records {
		key := fmt.Sprintf("%s-%d", record.Register, record.Number)
		i, ok := r.find(key)
		switch {
		case ok:
			told := disclosure.Issuer{ID: i.ID, Name: i.Name, ISINs: record.ISINs, Aliases: []string{key}}
			// The lists are newer than the open data, which may spell the same names
			// in another way.
			if i.Manager == "" {
				told.Manager = record.Manager
			}
			if i.Depositary == "" {
				told.Depositary = record.Depositary
			}
			if i = told; i.ID == key {
				i.Aliases = nil
			}
		case record.Gone:
			continue
		default:
			i = disclosure.Issuer{ID: key, Name: record.Name, Kind: disclosure.Fund, ISINs: record.ISINs, Manager: record.Manager, Depositary: record.Depositary}
		}
		out = append(out, i)
	}
	return out
}
