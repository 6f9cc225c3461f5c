package doctor

import (
	"context"
	"fmt"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/source/exchange"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// document checks the newest document of the lists.
func (e *examiner) document(ctx context.Context) {
	defer e.release(ctx)
	e.check(ctx, surface{"document", false, "", func(c *Check) error {
		for _, row := range e.rows {
			if row.PDFURL == "" {
				continue
			}
			file, err := e.Regulator.For(throttle.Documents).Document(ctx, row.PDFURL)
			if err != nil {
				return err
			}
			c.Found = "of " + name(&row)
			if e.ReadDocument == nil {
				return nil
			}
			text, err := e.ReadDocument(ctx, file.Body)
			if err != nil {
				c.Fail(0, "%v", err)
				return nil
			}
			c.Found += ", " + text
			return nil
		}
		c.skip("no list shows a report with a document")
		return nil
	}})
}

// entities checks the lists by entity of both divisions of HR, each for an issuer of
// a report that was read.
func (e *examiner) entities(ctx context.Context) {
	defer e.release(ctx)
	for _, of := range []struct {
		name     string
		division regulator.Division
		of       []disclosure.Type
	}{
		{health.HREntities, regulator.Funds, []disclosure.Type{disclosure.HR}},
		{health.HREntities + "/issuers", regulator.Issuers, []disclosure.Type{disclosure.IP, disclosure.OIR}},
	} {
		e.check(ctx, surface{of.name, false, "text/html", func(c *Check) error {
			for _, row := range e.rows {
				if !slices.Contains(of.of, row.Type) || row.NIF == "" {
					continue
				}
				list, err := e.Regulator.For(throttle.Registers).EntityHR(ctx, of.division, row.NIF, 0)
				c.Found = fmt.Sprintf("%s of %s", tell(list.Rows), row.Name)
				c.unknown(list)
				if err == nil && len(list.Rows) == 0 && of.division == regulator.Funds {
					c.Odd(0, "the list of %s is empty, in spite of %s", row.NIF, name(&row))
				}
				return err
			}
			c.skip("no list shows an issuer with a tax number")
			return nil
		}})
	}
}

// registers checks the first page of each register, and the open data.
func (e *examiner) registers(ctx context.Context) {
	defer e.release(ctx)
	client := e.Regulator.For(throttle.Registers)
	e.register(ctx, "managers", true, client.Managers)
	for _, r := range regulator.FundRegisters {
		large := r.Name == "fi" || r.Name == "sicav" // others may be empty
		e.register(ctx, fmt.Sprintf("%s-%d", r.Name, r.List), large,
			func(ctx context.Context) (regulator.Entities, error) {
				return client.Funds(ctx, r, 0)
			})
	}
	e.openData(ctx, client)
}

func (e *examiner) register(
	ctx context.Context,
	name string,
	large bool,
	read func(context.Context) (regulator.Entities, error),
) {
	e.check(ctx, surface{health.Register + "/" + name, false, "text/html", func(c *Check) error {
		list, err := read(ctx)
		c.Found = fmt.Sprintf("%d entities, page %d of %d", len(list.Entities), list.Page+1, max(1, list.Pages))
		withNIF := 0
		for _, entity := range list.Entities {
			if entity.NIF != "" {
				withNIF++
			}
		}
		switch {
		case err != nil:
		case len(list.Entities) == 0 && large:
			c.Odd(0, "the register is empty")
		case len(list.Entities) > 0 && withNIF == 0:
			c.Odd(0, "no entity has a tax number")
		}
		return err
	}})
}

// openData checks the list of archives and the newest of them.
func (e *examiner) openData(ctx context.Context, client *regulator.Client) {
	var archives []regulator.FundArchive
	e.check(ctx, surface{health.Register + "/opendata", false, "text/html", func(c *Check) (err error) {
		year := e.now.In(disclosure.Madrid).Year()
		archives, err = client.OpenData(ctx, year)
		if err == nil && len(archives) == 0 {
			archives, err = client.OpenData(ctx, year-1) // in January
		}
		if c.Found = count(len(archives), "archive"); len(archives) > 0 {
			newest := archives[len(archives)-1]
			c.Found += fmt.Sprintf(", newest of %d-%02d", newest.Year, newest.Month)
		} else if err == nil {
			c.Odd(0, "there is no archive of this year or the last")
		}
		return err
	}})
	e.check(ctx, surface{health.Register + "/opendata/archive", false, "", func(c *Check) error {
		if len(archives) == 0 {
			c.skip("no archive is known")
			return nil
		}
		funds, _, err := client.FundRecords(ctx, archives[len(archives)-1])
		isins := 0
		for _, f := range funds {
			isins += len(f.ISINs)
		}
		c.Found = fmt.Sprintf("%s, %s", count(len(funds), "fund"), count(isins, "ISIN"))
		return err
	}})
}

// exchange checks the list of shares, and the details of one.
func (e *examiner) exchange(ctx context.Context) {
	defer e.release(ctx)
	var share exchange.Share
	e.check(ctx, surface{health.Exchange, false, "json", func(c *Check) error {
		shares, err := e.Exchange.List(ctx, func(list string, row int) {
			c.Odd(0, "row %d of the list of %s is not a share that can be read", row, list)
		})
		markets := map[string]int{}
		for _, s := range shares {
			markets[s.Market()]++
			if share.ISIN == "" && s.CompanyKey != "" {
				share = s
			}
		}
		c.Found = fmt.Sprintf("%s in %s", count(len(shares), "share"), count(len(markets), "market"))
		return e.located(c, err)
	}})
	details := func(name string, read func() (string, error)) {
		e.check(ctx, surface{health.Exchange + "/" + name, false, "json", func(c *Check) error {
			if share.ISIN == "" {
				c.skip("no share is known")
				return nil
			}
			found, err := read()
			if missing(err) {
				c.Odd(0, "%v", err)
				return nil
			}
			c.Found = found
			return e.located(c, err)
		}})
	}
	details("share", func() (string, error) {
		ticker, err := e.Exchange.Ticker(ctx, share.ISIN)
		return fmt.Sprintf("%s has the ticker %s", share.ISIN, ticker), err
	})
	details("company", func() (string, error) {
		nif, err := e.Exchange.NIF(ctx, share.CompanyKey)
		return fmt.Sprintf("%s has the tax number %s", share.Name, nif), err
	})
}

// located adds an error of JSON with its line.
func (e *examiner) located(c *Check, err error) error {
	line := e.syntaxLine(err)
	if line == 0 {
		return err
	}
	c.Fail(line, "%v", err)
	return nil
}
