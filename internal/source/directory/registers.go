package directory

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
	"pregon/internal/store"
)

// joiner joins what several registers show of the same issuer in one refresh.
// Known may lag behind what the refresh appended.
type joiner struct {
	*Refresher
	byKey map[string]disclosure.Issuer // appended in this refresh, by every key
	names map[string]string            // given by registers in this refresh, by issuer id
}

func (r *Refresher) newJoiner() *joiner {
	return &joiner{Refresher: r, byKey: map[string]disclosure.Issuer{}, names: map[string]string{}}
}

// find returns the first issuer that has one of the keys.
func (j *joiner) find(keys ...string) (disclosure.Issuer, bool) {
	for _, key := range keys {
		if key = disclosure.IssuerKey(key); key == "" {
			continue
		}
		if i, ok := j.byKey[key]; ok {
			return i, true
		}
		if i, ok := j.Known.Issuer(key); ok {
			return i, true
		}
	}
	return disclosure.Issuer{}, false
}

// append stores the valid ones of the issuers and adds them to byKey.
func (j *joiner) append(ctx context.Context, issuers []disclosure.Issuer) error {
	var valid []disclosure.Issuer
	for _, i := range issuers {
		if err := i.Validate(); err != nil {
			j.Logger.Warn("a register shows an invalid issuer", "err", err)
			continue
		}
		valid = append(valid, i)
	}
	if len(valid) == 0 {
		return nil
	}
	if err := j.Append(ctx, valid); err != nil {
		return fmt.Errorf("storing %d issuers: %w", len(valid), err)
	}
	for _, i := range valid {
		merged := i
		if known, ok := j.find(i.ID); ok && known.ID == i.ID {
			merged, _ = known.Merge(i)
		}
		for _, key := range merged.Keys() {
			j.byKey[key] = merged
		}
	}
	return nil
}

// mostPages bounds a register that never ends; the longest has some hundreds.
const mostPages = 20_000

// register reads a register page by page. Rows that cannot be read do not hide
// the rows after them.
func (j *joiner) register(
	ctx context.Context,
	name string,
	read func(context.Context, int) (regulator.Entities, error),
) error {
	var broken error // the first error that concerns rows
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
		if err := j.entities(ctx, fresh); err != nil {
			return err
		}
		pages = max(pages, list.Pages)
		if page == 0 && fault.KindOf(err) == fault.NotFound {
			// A register that no longer exists must not keep the directory incomplete.
			return rowsError{fmt.Errorf("%s: %w", name, err)}
		}
		if err != nil && (!regulator.IsPartial(err) || len(fresh) == 0 && page+1 < pages) {
			return fmt.Errorf("%s, page %d: %w", name, page+1, err)
		}
		broken = cmp.Or(broken, err)
		if len(fresh) == 0 {
			break // after its end a list may repeat its last page
		}
	}
	return asRowsError(broken)
}

// entities appends the rows of a register. An issuer that is known under another
// of its identifiers keeps its id. If two rows name it differently, the first
// wins: otherwise each refresh would rename it twice.
func (j *joiner) entities(ctx context.Context, entities []regulator.Entity) error {
	var out []disclosure.Issuer
	for n := range entities {
		i := entities[n].Issuer()
		if known, ok := j.find(i.Keys()...); ok && known.ID != i.ID {
			i.Aliases = append(i.Aliases, i.ID)
			i.ID = known.ID
		}
		if name, ok := j.names[i.ID]; ok {
			i.Name, i.Kind = name, ""
		}
		j.names[i.ID] = i.Name
		out = append(out, i)
	}
	return j.append(ctx, out)
}

// openData reads the newest package of the open data unless it was read before.
func (j *joiner) openData(ctx context.Context, client *regulator.Client) error {
	const key = "opendata" // of the last package read
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
	if strings.HasPrefix(j.Coverage.Value(key), label) {
		return nil
	}
	records, digest, broken := client.FundRecords(ctx, newest)
	if broken != nil && len(records) == 0 {
		return broken
	}
	if err := j.append(ctx, j.funds(records)); err != nil {
		return err
	}
	if broken != nil {
		return asRowsError(broken)
	}
	return store.Unavailable(j.Coverage.SetValue(ctx, j.Lease, key, label+" "+hex.EncodeToString(digest[:8])))
}

// funds returns the issuers of open data records: with ISINs, manager and
// depositary, and including funds that no list shows.
func (j *joiner) funds(records []regulator.FundRecord) []disclosure.Issuer {
	var out []disclosure.Issuer
	for _, record := range records {
		key := fmt.Sprintf("%s-%d", record.Register, record.Number)
		known, ok := j.find(key)
		if !ok && record.Gone {
			continue
		}
		i := disclosure.Issuer{
			ID:         key,
			Name:       record.Name,
			Kind:       disclosure.Fund,
			ISINs:      record.ISINs,
			Manager:    record.Manager,
			Depositary: record.Depositary,
		}
		if ok {
			// The lists are newer than the open data, which may spell the same names
			// differently.
			i.ID = known.ID
			i.Name = known.Name
			i.Kind = ""
			if known.ID != key {
				i.Aliases = []string{key}
			}
			if known.Manager != "" {
				i.Manager = ""
			}
			if known.Depositary != "" {
				i.Depositary = ""
			}
		}
		out = append(out, i)
	}
	return out
}
