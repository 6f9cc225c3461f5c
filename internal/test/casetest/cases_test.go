package casetest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The file of the clients is well-formed.
func TestCases(t *testing.T) {
	if _, err := Read("../../../clients/cases.json"); err != nil {
		t.Error(err)
	}
}

func TestCaseErrors(t *testing.T) {
	good := `{"name":"a","about":"b","call":"stream","take":3,"expect":{"unique":true}}`
	for text, want := range map[string]string{
		`{"cases":[` + good + `]}`:                                                  "",
		`{"cases":[]}`:                                                              "no case",
		`{"cases":[` + good + `,` + good + `]}`:                                     "two cases",
		`{"cases":[` + good + `]} {}`:                                               "more than one",
		`{"cases":[{"name":"a","nmae":"b"}]}`:                                       "nmae",
		replace(good, `"about":"b",`, ``):                                           "about is missing",
		replace(good, `"stream"`, `"strem"`):                                        "unknown call",
		replace(good, `"unique":true`, ``):                                          "cannot fail",
		replace(good, `"take":3,`, ``):                                              "does not end",
		replace(good, `"unique":true`, `"x":1`):                                     `"x"`,
		during(good, `{"after":3,"post":"/publish"}`):                               "never sent",
		during(good, `{"after":1,"post":"/stop"}`):                                  "unknown action",
		replace(good, `"take":3`, `"take":3,"faults":[{"path":"/","kind":"slow"}]`): "unknown kind of fault",
		replace(good, `"unique":true`, `"error":{"kind":"odd"}`):                    "unknown kind of error",
	} {
		path := filepath.Join(t.TempDir(), "cases.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func replace(good, old, with string) string {
	return `{"cases":[` + strings.Replace(good, old, with, 1) + `]}`
}

func during(good, action string) string {
	return replace(good, `"take":3`, `"take":3,"during":[`+action+`]`)
}

func TestExpand(t *testing.T) {
	c := Case{
		Name: "a",
		Args: map[string]any{"whole": "{list}", "part": "/x/{id}?y={file.sha256}", "deep": []any{"{id}"}, "other": "{\"id\"}"},
	}
	values := map[string]any{"id": "oir-1", "file.sha256": "9f", "list": []any{"p", "q"}}
	got, err := c.Expand(func(name string) (any, error) {
		if v, ok := values[name]; ok {
			return v, nil
		}
		return nil, errors.New(name)
	})
	want := `map[deep:[oir-1] other:{"id"} part:/x/oir-1?y=9f whole:[p q]]`
	if err != nil || fmt.Sprint(got.Args) != want {
		t.Errorf("got %v, %v; want %s", got.Args, err, want)
	}
	c.Args["odd"] = "{none}"
	if _, err := c.Expand(func(string) (any, error) { return nil, errors.New("unknown") }); err == nil {
		t.Error("an unknown name is expanded")
	}
}

// Each fault does what it says, and only to the requests that it names.
func TestProxy(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "id: 1\n\nid: 2\n\nid")
	}))
	defer service.Close()
	p := NewProxy(func() string { return service.URL })
	front := httptest.NewServer(p)
	defer front.Close()

	const whole = "id: 1\n\nid: 2\n\nid"
	for name, test := range map[string]struct {
		fault Fault
		want  string
	}{
		"none":      {Fault{Path: "/other", Kind: "refuse"}, "200 " + whole},
		"skipped":   {Fault{Path: "/", Kind: "refuse", Skip: 1}, "200 " + whole},
		"status":    {Fault{Path: "/", Kind: "status", Status: 503, Body: "later"}, "503 later"},
		"cut":       {Fault{Path: "/", Kind: "cut", Bytes: 5}, "200 id: 1 (unexpected EOF)"},
		"cut early": {Fault{Path: "/", Kind: "cut"}, "EOF"},
		"corrupt":   {Fault{Path: "/", Kind: "corrupt", Bytes: 4}, "200 id: 0" + whole[5:]},
		"repeat":    {Fault{Path: "/", Kind: "repeat"}, "200 id: 1\n\nid: 1\n\nid: 2\n\nid: 2\n\nid"},
		"delay":     {Fault{Path: "/", Kind: "delay", Milliseconds: 1, Bytes: 4}, "200 " + whole},
		"refuse":    {Fault{Path: "/", Kind: "refuse"}, "EOF"},
	} {
		if err := test.fault.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		p.Reset([]Fault{test.fault})
		if got := ask(front.URL); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if got := p.Requests(); len(got) == 0 || got[0] != "/path?q=1" {
			t.Errorf("%s: requests %v", name, got)
		}
	}

	p.Reset([]Fault{{Path: "/", Kind: "status", Status: 429, Headers: map[string]string{"Retry-After": "<date+9>"}, Times: 1}})
	resp, err := http.Get(front.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if _, err := http.ParseTime(resp.Header.Get("Retry-After")); err != nil {
		t.Error(err)
	}
	if got := ask(front.URL); got != "200 "+whole {
		t.Errorf("after one fault: got %q", got)
	}
}

// ask returns the status and body of an answer, or the error.
func ask(base string) string {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // an idle connection that ends would be tried again
	resp, err := client.Get(base + "/path?q=1")
	if err != nil {
		return errors.Unwrap(err).Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Sprintf("%d %s (%v)", resp.StatusCode, text, err)
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, text)
}
