package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/proof"
	"pregon/internal/proof/prooftest"
	"pregon/internal/query"
	"pregon/internal/sim/archive"
)

// verifying runs pregon verify and returns all it prints.
func verifying(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	var b bytes.Buffer
	p := &process{args: append([]string{"verify"}, args...), stdin: strings.NewReader(""), stdout: &b, stderr: &b}
	err = p.run(t.Context())
	if err != nil {
		b.WriteString(err.Error())
	}
	return b.String(), err
}

// expect checks whether a command succeeded and what it printed.
func expect(t *testing.T, out string, err error, ok bool, want ...string) {
	t.Helper()
	if (err == nil) != ok {
		t.Errorf("the command succeeds: %t, want %t\n%s", err == nil, ok, out)
	}
	for _, text := range want {
		if !strings.Contains(out, text) {
			t.Errorf("the output has no %q:\n%s", text, out)
		}
	}
}

func TestVerifyLog(t *testing.T) {
	log := prooftest.New(t, 300)
	server := httptest.NewServer(log)
	defer server.Close()
	_, key := log.Keys()
	dir := t.TempDir()
	file := filepath.Join(dir, "checkpoint")
	keyFile := filepath.Join(dir, "key")
	if err := os.WriteFile(keyFile, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	out, err := verifying(t, "--log", server.URL)
	expect(t, out, err, true, "300 changes, signed", "warning: this key comes from", "--vkey "+key, "use --since FILE")
	out, err = verifying(t, "--log", server.URL+"/log", "--vkey", keyFile, "--entries")
	expect(t, out, err, true, "300 changes, signed", "300 changes were read")
	if strings.Contains(out, "warning") {
		t.Errorf("with a key it warns:\n%s", out)
	}
	out, err = verifying(t, "--log", server.URL, "--since", file, "--vkey", key)
	expect(t, out, err, true, "kept in "+file)
	log.Grow(400, "")
	out, err = verifying(t, "--log", server.URL, "--since", file) // the key is pinned
	expect(t, out, err, true, "it continues the 300 changes", "100 are new")
	if strings.Contains(out, "warning") {
		t.Errorf("with a pinned key it warns:\n%s", out)
	}

	log.Rewrite(123, 500, "x")
	out, err = verifying(t, "--log", server.URL, "--since", file, "--follow")
	expect(t, out, err, false, "THE LOG IS WRONG", "history was rewritten", "The first wrong seq is 123", file+".conflict", "\n500\n")
	log.Rewrite(123, 500, "")
	log.Origin += "/k3v9x2m7"
	out, err = verifying(t, "--log", server.URL, "--since", file)
	expect(t, out, err, false, "another history: the log was restored")
	log.Origin, log.Seed = prooftest.Origin, 7
	out, err = verifying(t, "--log", server.URL, "--since", file)
	expect(t, out, err, false, "wrong signature", "none of these is a known key")
}

// TestVerifyLogFollows: it checks until the log is wrong, and a server that fails is
// not a wrong log.
func TestVerifyLogFollows(t *testing.T) {
	log := prooftest.New(t, 300)
	reads := 0
	log.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/log/checkpoint" {
			return false
		}
		switch reads++; reads {
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		case 3:
			log.Grow(310, "")
		case 4:
			log.Rewrite(305, 320, "x")
		}
		return false
	}
	server := httptest.NewServer(log)
	defer server.Close()
	out, err := verifying(t, "--log", server.URL, "--since", filepath.Join(t.TempDir(), "c"), "--follow", "--every", "1s")
	expect(t, out, err, false, "10 are new", "The first wrong seq is 305")
}

func TestVerifyFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--log nonsense":                        `--log: "nonsense" must be the http:// or https:// address`,
		"--log http://h --repair":               "--repair and --json are for a store",
		"--log http://h --json":                 "--repair and --json are for a store",
		"--follow":                              "--follow and --entries need --log",
		"--entries":                             "--follow and --entries need --log",
		"--since x":                             "there is no checkpoint x",
		"--vkey x":                              "--vkey needs --since, --log",
		"report.json":                           "give the report and its proof",
		"report.json proof.json --log http://h": "give one of them",
		"--log http://h --every 1ms":            "--every 1ms must be from 1s to 24h",
		"--log http://h --vkey missing":         "--vkey must be the key of a log",
		"--log http://h --vkey a+b+c":           `--vkey: "a+b+c" is not the key of a log`,
	} {
		out, err := verifying(t, strings.Fields(args)...)
		expect(t, out, err, false, want)
	}
}

// proven returns a server with the record of a report as its change 7, and writes its
// proof and the report as the API answers it.
func proven(t *testing.T, dir string, change func(answer map[string]any)) (r disclosure.Report, key string, args []string) {
	t.Helper()
	r = disclosure.Report{
		Type: disclosure.OIR, Number: 40374, CompanyName: "ALMAZARA FICTICIA, S.A.", NIF: "A00000000", Title: "Año & <más>", Summary: "Uno.",
		PublishedAt: time.Date(2026, 4, 22, 8, 0, 33, 0, time.UTC), TimeFrom: disclosure.FromFeed, Category: "Sobre negocio",
		PDFURL: archive.Origin + "/webservices/verdocumento/ver?t=1", FirstSeenAt: time.Date(2026, 4, 22, 8, 0, 34, 5123, time.UTC), // the API has microseconds
	}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	record, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	log := prooftest.New(t, 6)
	log.Add(disclosure.Leaf{Seq: 7, Event: "report.published", Time: r.FirstSeenAt, Record: record}.Append(nil))
	log.Grow(20, "")
	path, err := log.Tree.Prove(6, 20)
	if err != nil {
		t.Fatal(err)
	}
	p := proof.Proof{Seq: 7, Index: 6, TreeSize: 20, Leaf: log.Leaves[6], Hashes: path, Checkpoint: string(log.Checkpoint())}
	text, err := json.Marshal(query.DescribeReport(&r))
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	answer["pdf_url"] = "http://127.0.0.1:8080/simulator/webservices/verdocumento/ver?t=1"
	answer["ticker"] = "ALM" // of the directory
	answer["first_seen_at"] = "2026-04-22T10:00:34.000005+02:00"
	change(answer)
	args = []string{writeJSON(t, dir, "report.json", answer), writeJSON(t, dir, "proof.json", p)}
	_, key = log.Keys()
	return r, key, args
}

func writeJSON(t *testing.T, dir, name string, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVerifyReport(t *testing.T) {
	_, key, args := proven(t, t.TempDir(), func(map[string]any) {})
	out, err := verifying(t, append(args, "--vkey", key)...)
	expect(t, out, err, true, "verified: seq 7 of example.org/log (report.published at 2026-04-22 08:00:34 UTC), in a tree of 20 changes",
		"as in the log: available_at, categories, cnmv_registration_number, company_name,", "20 changes. Not in the log, so NOT checked: attribution, categories_en, eu_class, headline, headline_en, issuer_id, ticker\n")
	out, err = verifying(t, args...)
	expect(t, out, err, false, "NOT VERIFIED", "/log/vkey")
	if strings.Contains(out, "verified:") {
		t.Errorf("without a key it says that the report is verified:\n%s", out)
	}
	other := prooftest.New(t, 1)
	other.Seed = 2
	_, key = other.Keys()
	out, err = verifying(t, append(args, "--vkey", key)...)
	expect(t, out, err, false, "none of the given keys signed its checkpoint")
}

func TestVerifyChangedReport(t *testing.T) {
	for name, value := range map[string]any{
		"title": "Otro", "summary": nil, "published_at": "2026-04-22T10:00:34+02:00", "pdf_url": "http://127.0.0.1:8080/simulator/other",
		"company_name": "OTRA, S.A.", "categories": []string{}, "nif": "B00000000", "type": "IP", "document": map[string]any{"status": "ready"},
	} {
		_, key, args := proven(t, t.TempDir(), func(answer map[string]any) { answer[name] = value })
		out, err := verifying(t, append(args, "--vkey", key)...)
		expect(t, out, err, false, "differs from seq 7 of the log in "+name+". ")
	}
	for name, want := range map[string]string{"title": "in title (missing)", "id": "is the report <nil>"} {
		_, key, args := proven(t, t.TempDir(), func(answer map[string]any) { delete(answer, name) })
		out, err := verifying(t, append(args, "--vkey", key)...)
		expect(t, out, err, false, want)
	}
	for name, value := range map[string]any{"Summary": "Uno.", "note": "x", "Title": "Otro", "": 1} {
		_, key, args := proven(t, t.TempDir(), func(answer map[string]any) { answer[name] = value })
		out, err := verifying(t, append(args, "--vkey", key)...)
		expect(t, out, err, false, fmt.Sprintf("a report has no field %q", name))
	}
	_, key, args := proven(t, t.TempDir(), func(answer map[string]any) { answer["id"] = "oir-1" })
	out, err := verifying(t, append(args, "--vkey", key)...)
	expect(t, out, err, false, "is the report oir-1")
}

// TestVerifyReportWithTwoValues: of two values of a name only one would be compared.
func TestVerifyReportWithTwoValues(t *testing.T) {
	for begin, name := range map[string]string{
		`{"title":"FORGED",`: "title", `{"\u0074itle":"FORGED",`: "title", `{"issuer_id":{"a":[{"b":1,"b":2}]},`: "b",
	} {
		_, key, args := proven(t, t.TempDir(), func(answer map[string]any) { delete(answer, "issuer_id") })
		text, err := os.ReadFile(args[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(args[0], []byte(begin+string(text[1:])), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := verifying(t, append(args, "--vkey", key)...)
		expect(t, out, err, false, fmt.Sprintf("it has the field %q twice", name))
	}
	_, key, args := proven(t, t.TempDir(), func(answer map[string]any) { answer["as_of_seq"] = 7 })
	out, err := verifying(t, append(args, "--vkey", key)...)
	expect(t, out, err, true, "NOT checked: as_of_seq, attribution,")
}

// TestVerifyReportWithHistory: the proof must be of the history that was followed.
func TestVerifyReportWithHistory(t *testing.T) {
	dir := t.TempDir()
	_, key, args := proven(t, dir, func(map[string]any) {})
	file := filepath.Join(dir, "checkpoint")
	other := prooftest.New(t, 20)
	server := httptest.NewServer(other)
	defer server.Close()
	out, err := verifying(t, "--log", server.URL, "--since", file, "--vkey", key)
	expect(t, out, err, true)
	out, err = verifying(t, append(args, "--since", file)...)
	expect(t, out, err, false, "the log is split")
}
