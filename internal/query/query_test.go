package query_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/query"
)

// What is wrong is gathered, also of what a caller refuses before it is read.
func TestParamsGatherWhatIsWrong(t *testing.T) {
	p := query.NewParams(nil)
	p.Reject("id", "", "is needed")
	p.SetValues(url.Values{"limit": {"99"}, "type": {"XX"}, "in": {"title"}})
	if p.Valid() {
		t.Error("nothing was wrong")
	}
	p.List(nil)
	e, ok := errors.AsType[*fault.Error](p.Err())
	if !ok || e.Kind != fault.Invalid || len(e.Fields) != 4 {
		t.Fatalf("%+v", e)
	}
	for i, want := range []string{"id", "type", "limit", "in"} {
		if e.Fields[i].Name != want || !strings.Contains(e.Message, want) {
			t.Errorf("%d is %+v in %s", i, e.Fields[i], e.Message)
		}
	}
	if err := query.NewParams(url.Values{"search": {""}}).Err(); err != nil {
		t.Error(err)
	}
}

// Texts of documents are large: few hold one at once, and who gives up waiting
// is let go.
func TestLibraryHasFewPlaces(t *testing.T) {
	d := query.New(query.Options{})
	var leavings []func()
	for {
		ctx, cancel := context.WithCancel(t.Context())
		if len(leavings) == 8 {
			cancel()
		}
		leave, err := d.AcquireText(ctx)
		cancel()
		if err != nil {
			break
		}
		if leavings = append(leavings, leave); len(leavings) > 8 {
			t.Fatal("more get in than there are places")
		}
	}
	leavings[0]()
	leave, err := d.AcquireText(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	leave()
}
