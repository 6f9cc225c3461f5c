package disclosure_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
)

const leafText = `{"seq":7,"event":"report.updated","time":"2026-03-02T09:15:00.000120Z",` +
	`"changed":["title","summary"],"record":{"id":"ip-7", "title":"Año & <más>"}}`

func leaf() disclosure.Leaf {
	return disclosure.Leaf{
		Seq: 7, Event: "report.updated", Time: time.Date(2026, 3, 2, 10, 15, 0, 120_000, time.FixedZone("", 3600)),
		Changed: []string{"title", "summary"}, Record: []byte(`{"id":"ip-7", "title":"Año & <más>"}`),
	}
}

func TestLeaf(t *testing.T) {
	if got := string(leaf().Append(nil)); got != leafText {
		t.Errorf("the leaf is\n%s, want\n%s", got, leafText)
	}
	read, err := disclosure.ParseLeaf([]byte(leafText))
	if err != nil {
		t.Fatal(err)
	}
	want := leaf()
	want.Time = want.Time.UTC()
	if !reflect.DeepEqual(read, want) {
		t.Errorf("read %+v, want %+v", read, want)
	}
}

// TestLeafHash: the hash is that of RFC 6962, also of names that must be escaped.
func TestLeafHash(t *testing.T) {
	odd := leaf()
	odd.Event, odd.Changed = `a "b" <c>`, []string{"año", ""}
	for _, l := range []disclosure.Leaf{{}, leaf(), odd} {
		text := l.Append(nil)
		if l.Record != nil && !json.Valid(text) {
			t.Errorf("%s is not JSON", text)
		}
		if l.Hash() != tlog.RecordHash(text) {
			t.Errorf("the hash of %s is not that of RFC 6962", text)
		}
	}
}

func TestLeafOfOtherLayout(t *testing.T) {
	for _, text := range []string{
		"", "{}", "null", leafText + "\n", " " + leafText,
		strings.Replace(leafText, `"seq":7`, `"seq": 7`, 1),
		strings.Replace(leafText, `"seq":7`, `"seq":7,"seq":7`, 1),
		strings.Replace(leafText, `,"changed"`, `,"other":1,"changed"`, 1),
		strings.Replace(leafText, ".000120Z", ".00012Z", 1),
		strings.Replace(leafText, ".000120Z", ".000120+00:00", 1),
		strings.Replace(leafText, `"record":{`, `"record": {`, 1),
	} {
		if l, err := disclosure.ParseLeaf([]byte(text)); err == nil {
			t.Errorf("%s is read as %+v, want an error", text, l)
		}
	}
}

func FuzzParseLeaf(f *testing.F) {
	f.Add([]byte(leafText))
	f.Add(disclosure.Leaf{Record: []byte("{}")}.Append(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := disclosure.ParseLeaf(text)
		if err == nil && string(l.Append(nil)) != string(text) {
			t.Errorf("%q is read as %+v", text, l)
		}
	})
}
