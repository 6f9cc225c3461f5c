package doctor

import (
	"context"
	"fmt"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/shorts"
	"pregon/internal/source/throttle"
)

// oldRegister is the age in days from which the workbook is too old: no holidays are
// longer.
const oldRegister = 6

// shorts checks the workbook of net short positions.
func (e *examiner) shorts(ctx context.Context) {
	defer e.release(ctx)
	e.check(ctx, surface{health.Register + "/shorts", false, "", func(c *Check) error {
		file, err := e.Regulator.For(throttle.Registers).NetShortPositions(ctx, regulator.Validators{})
		if err != nil {
			return err
		}
		if file.Validators == (regulator.Validators{}) {
			c.Odd(0, "it has neither an ETag nor a date: each request would download it")
		}
		if contentType := e.Tape.last().Header.Get("Content-Type"); !strings.Contains(contentType, "excel") {
			c.Odd(0, "the Content-Type is %q instead of one of excel", contentType)
		}
		c.Found = "a workbook"
		if e.ReadWorkbook == nil {
			return nil
		}
		book, err := e.ReadWorkbook(ctx, file.Body)
		if err != nil {
			return err
		}
		c.Found = count(len(book.Sheets), "sheet")
		r, err := shorts.Parse(book)
		if err != nil {
			return err
		}
		c.inspectRegister(&r)
		if age := disclosure.DayOf(e.now) - r.Published; age > oldRegister {
			c.Odd(0, "it was published %d days ago: the regulator rewrites it on working days", age)
		}
		return nil
	}})
}

// inspectRegister reports what the workbook has, and anything unexpected in it.
func (c *Check) inspectRegister(r *shorts.Register) {
	current := 0
	all := r.Union()
	for _, n := range all {
		if n.Current {
			current++
		}
	}
	c.Found = fmt.Sprintf("published on %s, %s, %d of them present; %d rows in Current, %d in Series, %d in Previous",
		r.Published, count(len(all), "notice"), current, len(r.Current), len(r.Series), len(r.Previous))
	for _, f := range r.Findings {
		c.Odd(0, "%s", f)
	}
	if r.Omitted > 0 {
		c.Odd(0, "and %s", count(r.Omitted, "further finding"))
	}
}
