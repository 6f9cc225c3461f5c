package disclosure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
)

func TestCursor(t *testing.T) {
	for text, want := range map[string]disclosure.Cursor{
		"0":                          {},
		"1515":                       {Seq: 1515},
		"9223372036854775807":        {Seq: 1<<63 - 1},
		"k3v9-0":                     {Epoch: "k3v9"},
		"k3v9-1515":                  {Epoch: "k3v9", Seq: 1515},
		disclosure.NewEpoch() + "-7": {Seq: 7},
	} {
		got, ok := disclosure.ParseCursor(text)
		if want.Epoch == "" && strings.Contains(text, "-") {
			want.Epoch, _, _ = strings.Cut(text, "-")
		}
		if !ok || got != want || got.String() != text {
			t.Errorf("ParseCursor(%s) = %+v, %v, which prints as %s, want %+v", text, got, ok, got, want)
		}
	}
	for _, text := range []string{
		"", "-", "-5", "+5", " 5", "5 ", "x", "x-", "X-5", "x-y-5", "x--5", "x-+5", "á-5", "x-5\n", "1.5", "x_y-5",
		"9223372036854775808", strings.Repeat("x", 33) + "-5", strings.Repeat("9", 1000),
	} {
		if c, ok := disclosure.ParseCursor(text); ok {
			t.Errorf("ParseCursor(%q) = %v, want not ok", text, c)
		}
	}
}

// A cursor of any epoch resumes before the first change that its reader has not
// read.
func TestResume(t *testing.T) {
	first := disclosure.Head{Cursor: disclosure.Cursor{Epoch: "a", Seq: 1515}}
	for seq, want := range map[int64]int64{3: 3, 2000: 1515} {
		if got, ok := first.Resume(disclosure.Cursor{Epoch: "z", Seq: seq}); ok || got != want {
			t.Errorf("%d of an unknown log resumes after %d, %v, want %d", seq, got, ok, want)
		}
	}
	first.Seq = 500 // restored
	second := first.Renew()
	second.Seq = 2000 // grew
	third := second.Renew(disclosure.Cursor{Epoch: second.Epoch, Seq: 1497}, disclosure.Cursor{Epoch: "lost", Seq: 300})
	for _, test := range []struct {
		cursor disclosure.Cursor
		want   int64
	}{
		{disclosure.Cursor{Epoch: "a", Seq: 1515}, 300},
		{disclosure.Cursor{Epoch: "a", Seq: 200}, 200},
		{disclosure.Cursor{Epoch: second.Epoch, Seq: 1800}, 300}, // the lost epoch may have come after it
		{disclosure.Cursor{Epoch: "lost", Seq: 900}, 300},
		{disclosure.Cursor{Epoch: "unknown", Seq: 900}, 300},
	} {
		if got, ok := third.Resume(test.cursor); !ok || got != test.want {
			t.Errorf("%v resumes after %d, %v, want %d", test.cursor, got, ok, test.want)
		}
	}
	if third.Seq != 2000 || third.Epoch == second.Epoch || third.Epoch == "a" {
		t.Errorf("got head %+v, want seq 2000 and a new epoch", third)
	}
}

func TestPast(t *testing.T) {
	h := disclosure.Head{Cursor: disclosure.Cursor{Epoch: "a", Seq: 7}}
	for range 40 {
		h = h.Renew()
	}
	if len(h.Past) != 32 {
		t.Errorf("got %d past epochs, want 32", len(h.Past))
	}
	h.Past[0].Seq = 4
	oldest := h.Past[1].Epoch
	h = h.Renew()
	if seq, ok := h.Resume(disclosure.Cursor{Epoch: "forgotten", Seq: 7}); len(h.Past) != 32 || h.Past[0].Epoch != oldest || seq != 4 || !ok {
		t.Errorf("a dropped epoch resumes after %d, %v, want 4; past epochs %v", seq, ok, h.Past)
	}
	read, err := disclosure.ParsePast(disclosure.FormatPast(h.Past))
	if diff := cmp.Diff(h.Past, read); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if none, err := disclosure.ParsePast(""); err != nil || len(none) != 0 {
		t.Error(none, err)
	}
	if _, err := disclosure.ParsePast("a-5 nonsense"); err == nil || !strings.Contains(fmt.Sprint(err), `"nonsense"`) {
		t.Error(err)
	}
}
