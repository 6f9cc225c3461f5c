package rest_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/rest/resttest"
	"pregon/internal/server/problem"
	"pregon/internal/store"
)

const lists = "/api/v1/reports /api/v1/issuers"

func TestBadNumbers(t *testing.T) {
	s := start(t, "demo", market())
	notNumbers := []string{
		"0", "-1", "-0", "1.5", "abc", "+5", "1e1", "0x10", "1_0", "5 ", " 5", "5,6", "١", "NaN", "null", "--1",
		"99999999999999999999", "-99999999999999999999", "9223372036854775807", "9223372036854775808",
	}
	for _, value := range append(notNumbers, "51", "2147483647") {
		for path := range strings.FieldsSeq(lists) {
			s.get(http.StatusBadRequest, path+encode("limit", value)).refused("limit", value)
		}
	}
	for _, value := range append(notNumbers, "2147483648", "4294967297", "18446744073709551617") { // the last two are 1 when they wrap
		s.get(http.StatusBadRequest, "/api/v1/reports"+encode("page", value)).refused("page", value)
	}
}

func TestBadValues(t *testing.T) {
	s := start(t, "demo", market())
	for name, values := range map[string][]string{
		"type":    {"xx", "ip", "Ip", "IP ", "IP,HR", "*", "\x00", "null"},
		"kind":    {"Company", "companies", "xx", "fund ", "\x1f"},
		"without": {"securitization", "Securitisation", "funds", "securitisation,"},
		"from":    {"2026-02-30", "2026-04-31", "22-04-2026", "2026/04/22", "2026-04-22T10:00:00Z", "20260422", "1899-12-31", "0000-00-00", "10000-01-01", "yesterday", "2026-04-22 "},
		"to":      {"2027-02-29", "hoy", "2026", "2026-04", "\x7f"},
	} {
		for _, value := range values {
			s.get(http.StatusBadRequest, "/api/v1/reports"+encode(name, value)).refused(name, value)
		}
	}
	for _, kind := range []string{"Fund", "xx"} {
		s.get(http.StatusBadRequest, "/api/v1/issuers"+encode("kind", kind)).refused("kind", kind)
	}
}

func TestReversedDates(t *testing.T) {
	s := start(t, "demo", market())
	s.get(http.StatusBadRequest, "/api/v1/reports?from=2026-04-23&to=2026-04-22").refused("from", "2026-04-23")
	// An invalid date is the only error: the range is not checked then.
	s.get(http.StatusBadRequest, "/api/v1/reports?from=2026-04-23&to=2026-04-00").refused("to", "2026-04-00")
}

// An empty value is the same as an absent parameter.
func TestEmptyIsAbsent(t *testing.T) {
	s := start(t, "demo", market())
	plain := s.get(http.StatusOK, "/api/v1/reports").body
	for _, name := range []string{"search", "type", "issuer", "kind", "category", "market", "without", "from", "to", "limit", "page"} {
		for _, empty := range []string{"?" + name + "=", "?" + name} {
			if got := s.get(http.StatusOK, "/api/v1/reports"+empty).body; string(got) != string(plain) {
				t.Errorf("%s: %s", empty, got)
			}
		}
	}
}

func TestRepeatedParameters(t *testing.T) {
	s := start(t, "demo", market())
	for _, name := range []string{"search", "type", "issuer", "kind", "category", "market", "without", "from", "to", "limit", "page"} {
		s.get(http.StatusBadRequest, "/api/v1/reports?"+name+"=1&"+name+"=2").refused(name, "1, 2")
	}
	s.get(http.StatusBadRequest, "/api/v1/reports?limit=5&limit=5").refused("limit", "5, 5")
	s.get(http.StatusBadRequest, "/api/v1/reports?limit=&limit=5").refused("limit", ", 5")
	s.get(http.StatusBadRequest, "/api/v1/reports?type=IP&t%79pe=IP").refused("type", "IP, IP")
	s.get(http.StatusBadRequest, "/api/v1/issuers?search=a&search=b").refused("search", "a, b")
	s.get(http.StatusOK, "/api/v1/reports?unknown=1&unknown=2")
}

// A problem document lists all errors of a request.
func TestProblemListsAllErrors(t *testing.T) {
	s := start(t, "demo", market())
	got := s.get(http.StatusBadRequest, "/api/v1/reports?type=xx&limit=0&page=0&from=x").problem()
	want := problem.Document{
		Type: "urn:pregon:problem:invalid", Title: "Invalid request", Status: 400,
		Detail: "from must be a date as YYYY-MM-DD, from 1900 on; type must be IP, HR or OIR, in upper case; " +
			"limit must be a whole number from 1 to 50; page must be a whole number from 1 to 2147483647.",
		Errors: []problem.Field{
			{Parameter: "from", Value: "x", Reason: "must be a date as YYYY-MM-DD, from 1900 on"},
			{Parameter: "type", Value: "xx", Reason: "must be IP, HR or OIR, in upper case"},
			{Parameter: "limit", Value: "0", Reason: "must be a whole number from 1 to 50"},
			{Parameter: "page", Value: "0", Reason: "must be a whole number from 1 to 2147483647"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Any text with a word is a valid query, and only its words matter.
func TestAnyTextIsAQuery(t *testing.T) {
	s := start(t, "demo", market())
	for raw, want := range map[string]string{
		"%20%09": "oir-40375 oir-40374 ip-3123 hr-256057", "dividendo%00": "oir-40374", "divid%0d%0aX-Header:%20x": "", "dividendo%ff": "oir-40374", "%c3%28dividendo": "oir-40374",
		"dividendo%3Bjunta": "oir-40374",
		"'%20OR%201=1%20--": "", "dividendo%E2%80%AE": "oir-40374", "%22junta%20general": "oir-40375 oir-40374",
	} {
		if got := s.get(http.StatusOK, "/api/v1/reports?search="+raw).ids(); got != want {
			t.Errorf("%s finds %q, want %q", raw, got, want)
		}
		s.get(http.StatusOK, "/api/v1/issuers?search="+raw)
	}
}

// A search with only symbols is refused. As an empty search it would match
// everything.
func TestSearchWithoutAWord(t *testing.T) {
	s := start(t, "demo", market())
	header := s.credentials(access.AllScopes)[0]
	for _, text := range []string{"\x00", "-", "\"", "\"\"", "-\"", "%", "*", "😀", "...", "¿? ¡!", "\u0301"} {
		for path := range strings.FieldsSeq(lists + " /api/v1/search/documents /api/v1/stream /api/v1/changes") {
			doc := s.getWith(http.StatusBadRequest, path+encode("search", text), header).problem()
			if len(doc.Errors) != 1 || doc.Errors[0].Parameter != "search" || !strings.Contains(doc.Detail, "does not have a word to search for") {
				t.Errorf("%s of %q: %+v", path, text, doc)
			}
		}
		if body := s.get(http.StatusOK, "/api/v1/suggest"+encode("q", text)).body; string(body) != `{"data":[]}` {
			t.Errorf("%q suggests %s", text, body)
		}
	}
	if doc := s.get(http.StatusBadRequest, "/api/v1/reports"+encode("search", strings.Repeat("\"", 50_000))).problem(); len(doc.Errors) != 1 || len(doc.Errors[0].Value) > 1000 {
		t.Errorf("%+v", doc)
	}
}

// The search text is limited only by the size of the request header, and is not
// returned.
func TestLongSearch(t *testing.T) {
	s := start(t, "demo", market())
	for name, text := range map[string]string{
		"one word":      strings.Repeat("x", 50_000),
		"words":         strings.Repeat("dividendo ", 5_000),
		"many words":    countTo(10_000, ""),
		"exclusions":    countTo(9_000, "-"),
		"quotes":        strings.Repeat("\"", 50_000) + "x",
		"initials":      strings.Repeat("S.A. ", 10_000),
		"invalid UTF-8": strings.Repeat("\xff", 50_000) + "x",
	} {
		for path := range strings.FieldsSeq(lists) {
			if body := s.get(http.StatusOK, path+encode("search", text)).body; len(body) > 4_000 {
				t.Errorf("%s of %s: %d bytes", name, path, len(body))
			}
		}
	}
	if got := s.get(http.StatusOK, "/api/v1/reports"+encode("search", strings.Repeat("dividendo ", 5_000))).ids(); got != "oir-40374" {
		t.Errorf("a repeated word finds %q", got)
	}
}

// countTo returns n distinct words.
func countTo(n int, before string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(before + strconv.Itoa(i) + "x ")
	}
	return b.String()
}

// A long value is truncated in the problem, and invalid UTF-8 is replaced.
func TestOddValuesInProblems(t *testing.T) {
	s := start(t, "demo", market())
	long := s.get(http.StatusBadRequest, "/api/v1/reports"+encode("limit", strings.Repeat("9", 50_000)))
	long.refused("limit", strings.Repeat("9", 200)+"…")
	if len(long.body) > 1_000 {
		t.Errorf("the problem has %d bytes", len(long.body))
	}
	broken := s.get(http.StatusBadRequest, "/api/v1/reports?type=%ff%00%3Cscript%3E")
	broken.refused("type", "\uFFFD\x00<script>")
	if !utf8.Valid(broken.body) || strings.Contains(string(broken.body), "<script>") {
		t.Errorf("%q", broken.body)
	}
}

func TestUnreadableQueries(t *testing.T) {
	s := start(t, "demo", market())
	for _, raw := range []string{"search=%zz", "search=%", "search=%a", "%zz=1", "limit=5;page=2", "search=a;b", ";", "search=a&;"} {
		for path := range strings.FieldsSeq(lists) {
			doc := s.get(http.StatusBadRequest, path+"?"+raw).problem()
			if doc.Type != "urn:pregon:problem:invalid" || len(doc.Errors) > 0 || !strings.Contains(doc.Detail, "%XX") {
				t.Errorf("%s: %+v", raw, doc)
			}
		}
	}
}

// Every operation first refuses a secret in the URL, however the name of its
// parameter is encoded, and does not repeat it.
func TestCredentialsInTheQuery(t *testing.T) {
	s := start(t, "demo", market())
	const secret = "pregon_live_s3cr3t"
	for _, pattern := range public() {
		path := strings.Replace(resttest.PathOf(pattern), "{id}", "oir-40374", 1)
		for name, decoded := range map[string]string{
			"api_key": "api_key", "access_token": "access_token", "token": "token", "API_KEY": "API_KEY", "Token": "Token",
			"Access_TOKEN": "Access_TOKEN", "%61pi_key": "api_key", "api%5Fkey": "api_key", "%54%4f%4b%45%4e": "TOKEN",
		} {
			for _, raw := range []string{name + "=" + secret, "limit=x&" + name + "=" + secret, name + "=" + secret + "&search=%zz", name} {
				got := s.get(http.StatusBadRequest, path+"?"+raw)
				got.refused(decoded, "")
				if strings.Contains(string(got.body), secret) {
					t.Errorf("%s?%s repeats the secret: %s", path, raw, got.body)
				}
			}
		}
	}
	for _, raw := range []string{"apikey=x", "x-api-key=x", "q=" + secret, "search=my+" + secret, "pregon_live%5Fx=1"} { // under other names, and recognized by its format
		if got := s.get(http.StatusBadRequest, "/api/v1/reports?"+raw); strings.Contains(string(got.body), secret) {
			t.Errorf("%s is repeated: %s", raw, got.body)
		}
	}
	for _, raw := range []string{"token_type=x", "my_token=x", "key=token", "search=token", "tokens=1", "%20token=x"} {
		s.get(http.StatusOK, "/api/v1/reports?"+raw)
	}
}

// Until the catalogue is loaded, the service answers 503 instead of an empty
// market.
func TestNotLoaded(t *testing.T) {
	s := startEmpty(t, "demo")
	for _, pattern := range public() {
		path := strings.Replace(resttest.PathOf(pattern), "{id}", "oir-40374", 1)
		if !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/log/") {
			s.get(http.StatusOK, path) // needs no catalogue
			continue
		}
		doc := s.get(http.StatusServiceUnavailable, path).problem()
		if doc.Type != "urn:pregon:problem:unavailable" || doc.Status != http.StatusServiceUnavailable {
			t.Errorf("%s: %+v", path, doc)
		}
	}
	s.append(store.Batch{})
	s.get(http.StatusOK, "/api/v1/reports")
}

// Before the first data is stored, only the status and the documents are served.
// An empty list would be misleading.
func TestBeforeTheFirstData(t *testing.T) {
	var ready atomic.Bool
	s := serve(t, query.Options{Source: func() string { return "demo" }, Ready: func() error {
		if !ready.Load() {
			return fault.New(fault.Unavailable, "The first month is still loading.")
		}
		return nil
	}})
	s.append(store.Batch{})
	for _, pattern := range public() {
		path := strings.Replace(resttest.PathOf(pattern), "{id}", "oir-40374", 1)
		if !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/log/") || path == "/api/v1/status" {
			s.get(http.StatusOK, path)
			continue
		}
		a := s.get(http.StatusServiceUnavailable, path)
		if doc := a.problem(); doc.Detail != "The first month is still loading." || a.header.Get("Retry-After") == "" {
			t.Errorf("%s: %+v, Retry-After %q", path, doc, a.header.Get("Retry-After"))
		}
	}
	ready.Store(true)
	s.get(http.StatusOK, "/api/v1/reports")
}
