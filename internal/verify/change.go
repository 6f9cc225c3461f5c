package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// Change checks a change against the one before of the same subject, nil if it is
// the first: it has an event that is possible, names exactly the fields that
// changed, and has lost no value. A log that an earlier version wrote may break
// rules that are newer.
func Change(before, c *disclosure.Change) error {
	if err := about(c); err != nil {
		return err
	}
	switch {
	case before == nil:
		return first(c)
	case c.Issuer != nil:
		merged, changed := before.Issuer.Merge(*c.Issuer)
		return step(c, changed, merged, *c.Issuer)
	case c.Position != nil:
		return positionStep(before.Position, c)
	}
	want := disclosure.Updated
	if slices.Contains(c.Changed, "corrected_by") {
		want = disclosure.Corrected
	}
	if c.Event != want && c.Event != disclosure.Backfilled {
		return fmt.Errorf("a later event of %s is %q, want %q", c.Subject(), c.Event, want)
	}
	merged, changed := before.Report.Merge(*c.Report)
	return step(c, changed, merged, *c.Report)
}

// about checks that a change is about one thing, with an event of such things.
func about(c *disclosure.Change) error {
	subjects := 0
	for _, is := range []bool{c.Report != nil, c.Issuer != nil, c.Position != nil} {
		if is {
			subjects++
		}
	}
	switch {
	case subjects != 1:
		return errors.New("it must be about a report, about an issuer or about a position")
	case c.Event.Of() != c.Of():
		return fmt.Errorf("%q is not an event of %ss", c.Event, c.Of())
	}
	return nil
}

// first checks the first change of a subject. A report that was imported keeps the
// clocks of the store that it comes from: they are not those of its change.
func first(c *disclosure.Change) error {
	if len(c.Changed) > 0 {
		return fmt.Errorf("%s is new, and yet %s changed", c.Subject(), strings.Join(c.Changed, ", "))
	}
	if c.Position != nil {
		return firstPosition(c)
	}
	if c.Report == nil {
		return nil
	}
	imported := c.Report.AvailableAt.Before(c.OccurredAt)
	switch {
	case c.Event != disclosure.Published && c.Event != disclosure.Backfilled:
		return fmt.Errorf("the first event of %s is %q", c.Subject(), c.Event)
	case c.Event == disclosure.Backfilled && !c.Report.Backfilled && !imported:
		return fmt.Errorf("%s is back-filled and its Backfilled field is false", c.Subject())
	case c.Report.AvailableAt.IsZero() || c.Report.AvailableAt.After(c.OccurredAt) || c.Report.FirstSeenAt.IsZero():
		return fmt.Errorf("%s is available at %v, first seen at %v", c.Subject(), c.Report.AvailableAt,
			c.Report.FirstSeenAt)
	}
	return nil
}

// step checks that a change names all changed fields, and has lost no value of
// merged, the result of merging it into the record before.
func step(c *disclosure.Change, changed []string, merged, got any) error {
	switch {
	case len(changed) == 0:
		return fmt.Errorf("nothing of %s changed", c.Subject())
	case !slices.Equal(changed, c.Changed):
		return fmt.Errorf("%s changed in %s, but names %s", c.Subject(), strings.Join(changed, ", "),
			strings.Join(c.Changed, ", "))
	case !reflect.DeepEqual(merged, got):
		return fmt.Errorf("%s lost a value of %s", c.Subject(), strings.Join(differing(merged, got), ", "))
	}
	return nil
}

// differing returns the names of the fields in which two records differ.
func differing(a, b any) (names []string) {
	fields := [2]map[string]any{}
	for i, record := range []any{a, b} {
		text, err := json.Marshal(record)
		if err == nil {
			err = json.Unmarshal(text, &fields[i])
		}
		if err != nil {
			return []string{err.Error()}
		}
	}
	all := maps.Clone(fields[0])
	maps.Copy(all, fields[1])
	for name := range all {
		if !reflect.DeepEqual(fields[0][name], fields[1][name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// clockSkew is how far the clock of a process that wrote may be ahead.
const clockSkew = time.Hour

// earliest is before the first version of the program.
var earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

func plausible(at, now time.Time) bool {
	return !at.Before(earliest) && !at.After(now.Add(clockSkew)) && at.Equal(at.Truncate(time.Microsecond))
}

// valid reports what is wrong with the record of a change.
func valid(c *disclosure.Change) error {
	if c.Report != nil {
		r := *c.Report
		r.Related = slices.Clone(r.Related) // Validate converts times
		return r.Validate()
	}
	if c.Position != nil {
		p := *c.Position
		return p.Validate()
	}
	i := *c.Issuer
	i.Aliases, i.ISINs = slices.Clone(i.Aliases), slices.Clone(i.ISINs)
	if err := i.Validate(); err != nil {
		return err
	}
	if i.ID != c.Issuer.ID {
		return fmt.Errorf("the id %q must be written %q", c.Issuer.ID, i.ID)
	}
	return nil
}
