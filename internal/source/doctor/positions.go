package doctor

import (
	"context"
	"fmt"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// dealingDays is the length of the list of dealings that is read. There are some every
// working day.
const dealingDays = 14

// positions checks the registers of dealings, holdings and own shares, and the general
// data. Reports are not lost without them.
func (e *examiner) positions(ctx context.Context) {
	defer e.release(ctx)
	e.dealings(ctx)
	issuers := e.lastDays(ctx)
	for _, row := range e.rows {
		if row.NIF != "" && row.Type != disclosure.HR {
			issuers = append(issuers, row.NIF)
		}
	}
	found := e.holdings(ctx, issuers)
	e.identity(ctx, found, issuers)
}

func (e *examiner) dealings(ctx context.Context) {
	e.check(ctx, surface{health.Register + "/dealings", false, "text/html", func(c *Check) error {
		today := disclosure.DayOf(e.now)
		list, err := e.Regulator.For(throttle.Registers).Dealings(ctx, today-dealingDays+1, today, 0)
		c.Found = fmt.Sprintf("%s, page %d of %d", count(len(list.Rows), "notice"), list.Page+1, max(1, list.Pages))
		c.columns(list.Unknown)
		if err == nil && len(list.Rows) == 0 {
			c.Odd(0, "the list of %d days is empty", dealingDays)
		}
		return err
	}})
}

// columns adds what a parser does not read.
func (c *Check) columns(unknown []regulator.Defect) {
	for _, d := range unknown {
		c.Odd(d.Line, "%s", d.Text)
	}
}

// lastDays returns the issuers of the page of the last days.
func (e *examiner) lastDays(ctx context.Context) (issuers []string) {
	e.check(ctx, surface{health.Register + "/last-days", false, "text/html", func(c *Check) error {
		page, err := e.Regulator.For(throttle.Registers).LastDays(ctx)
		c.Found = fmt.Sprintf("%s since %s", count(len(page.Issuers), "issuer"), page.Since)
		for _, i := range page.Issuers {
			issuers = append(issuers, i.NIF)
		}
		return err
	}})
	return issuers
}

// rarePages are those that many issuers do not have.
var rarePages = []string{"holdings-others", "holdings-annulled"}

// holdings walks the register of one issuer: its hub, its present table, one history and
// one page of annulments, if there are, and own shares. Each page is a check. It returns
// the NIF of the issuer, or "".
func (e *examiner) holdings(ctx context.Context, issuers []string) string {
	if len(issuers) == 0 || ctx.Err() != nil {
		e.check(ctx, surface{health.Register + "/" + regulator.HoldingPages[0], false, "", func(c *Check) error {
			c.skip("no page shows an issuer with a tax number")
			return nil
		}})
		return ""
	}
	begin := e.Tape.len()
	read := map[string]bool{}
	seen := func(p regulator.HoldingPage) {
		c := Check{
			Name:    health.Register + "/" + p.Page,
			Verdict: OK,
			Found:   count(p.Rows, "row"),
		}
		if p.Page == regulator.HoldingPages[0] {
			c.Found = count(p.Rows, "link")
		}
		c.columns(p.Unknown)
		read[p.Page] = true
		e.hold(&c, begin, "text/html", false, p.Err)
		begin = e.Tape.len()
	}
	histories, annulled := 0, 0
	found, err := e.Regulator.For(throttle.Registers).ExamineHoldings(ctx, issuers[0], func(h regulator.Holding) bool {
		isFirst := h.HasHistory && histories == 0 || h.HasAnnulled && annulled == 0
		if isFirst {
			histories++
		}
		if isFirst && h.HasAnnulled {
			annulled++
		}
		return isFirst
	}, seen)
	if err != nil {
		return ""
	}
	for _, page := range regulator.HoldingPages {
		if !read[page] && !slices.Contains(rarePages, page) {
			e.held = append(e.held, Check{
				Name:    health.Register + "/" + page,
				Verdict: Skipped,
				Found:   "the issuer does not have it",
			})
		}
	}
	return found.NIF
}

// identity checks the general data of an issuer.
func (e *examiner) identity(ctx context.Context, nif string, issuers []string) {
	e.check(ctx, surface{health.Register + "/general-data", false, "text/html", func(c *Check) error {
		if nif == "" && len(issuers) > 0 {
			nif = issuers[0]
		}
		if nif == "" {
			c.skip("no page shows an issuer with a tax number")
			return nil
		}
		got, err := e.Regulator.For(throttle.Registers).Identity(ctx, nif)
		c.columns(got.Unknown)
		c.Found = fmt.Sprintf("%s of the sector %q", got.Name, got.Sector)
		if err != nil {
			return err
		}
		missing := slices.DeleteFunc([]string{"LEI", "sector", "capital"}, func(name string) bool {
			return map[string]string{"LEI": got.LEI, "sector": got.Sector, "capital": got.Capital}[name] != ""
		})
		for _, name := range missing {
			c.Odd(0, "the issuer has no %s", name)
		}
		return nil
	}})
}
