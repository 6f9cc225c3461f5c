package disclosure_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pregon/internal/disclosure"
)

var seenAt = time.Date(2026, 9, 25, 8, 30, 0, 0, time.UTC)

// A line of an export and an answer of the API are both read back.
func TestReadPosition(t *testing.T) {
	short := newShort()
	short.FirstSeenAt = seenAt
	read := newReadDealing()
	read.FirstSeenAt = seenAt
	unread := newDealing()
	unread.Natural = true
	unread.FirstSeenAt = seenAt
	unread.Rectifies = []string{"2026000001"}
	holding := disclosure.Position{
		ID:           "holding-2026121404",
		Kind:         disclosure.Holding,
		Name:         "CASAMAR PATRIMONIAL, S.L.",
		Number:       "2026121404",
		RegisteredOn: "2026-10-02",
		Percent:      "5.033",
		State:        disclosure.StateCurrent,
	}
	erased := unread
	erased.Name = ""
	erased.Erased = true
	for _, want := range []disclosure.Position{short, read, unread, holding, erased} {
		line, err := json.Marshal(&want)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{string(line), string(disclosure.AppendPosition(nil, &want))} {
			got, err := disclosure.ReadPosition([]byte(line))
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", line, err, diff)
			}
		}
	}
}

func TestReadPositionRules(t *testing.T) {
	const line = `{"id":"DEALING-2026000007","holder":"Elena Ruiz Salvatierra","registered_on":"2026-10-02"`
	for _, test := range []struct {
		rest string
		want string // in the error, or the name; "" for no name
	}{
		{`}`, "Elena Ruiz Salvatierra"},
		{`,"holder_sealed":"0a"}`, "Elena Ruiz Salvatierra"},
		{`,"holder_erased":true}`, ""},
		{`,"person_erased":true}`, ""},
		{`,"amount":"12","current":false,"attribution":null,"as_of_seq":5}`, "Elena Ruiz Salvatierra"},
		{`,"hodler":"x"}`, `unknown field "hodler"`},
		{`,"kind":"short"}`, "must begin with short-"},
		{`,"trades":[{"side":"hold"}]}`, "use buy, sell or other"},
		{`,"rectifies":"x"}`, "rectifies must be a list, not a string"},
		{`,"percent":5}`, "percent must be a string, not a number"},
		{`}{}`, "more than one JSON value"},
	} {
		p, err := disclosure.ReadPosition([]byte(line + test.rest))
		switch {
		case err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %q", test.rest, err, test.want)
		case err == nil && (p.Name != test.want || p.Erased != (test.want == "") || !p.Natural || p.Sealed != ""):
			t.Errorf("%s: %+v, want the name %q", test.rest, p, test.want)
		}
	}
	if _, err := disclosure.ReadPosition([]byte(`{"id":"oir-1"}`)); err == nil || !strings.Contains(err.Error(), "kind") {
		t.Errorf("the id of a report: %v", err)
	}
}

func FuzzReadPosition(f *testing.F) {
	for _, p := range []disclosure.Position{newShort(), newReadDealing()} {
		line, _ := json.Marshal(&p)
		f.Add(string(line))
		f.Add(string(disclosure.AppendPosition(nil, &p)))
	}
	f.Fuzz(func(t *testing.T, line string) {
		p, err := disclosure.ReadPosition([]byte(line))
		if err != nil {
			return
		}
		again, err := json.Marshal(&p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := disclosure.ReadPosition(again)
		if diff := cmp.Diff(p, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v (-first +second):\n%s", again, err, diff)
		}
	})
}
