package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"pregon/internal/disclosure"
	"pregon/internal/proof"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// updateProofs brings the transparency log up to date.
func (s *service) updateProofs() {
	s.t.Helper()
	if err := s.logKeys.LoadOrCreate(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	if err := s.proofs.Update(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func scopes(names string) http.Header { return http.Header{"Authorization": {"Bearer " + names}} }

// proofOf verifies the proof in a response with the key that the service serves.
func (s *service) proofOf(a answer) (proof.Proof, disclosure.Leaf) {
	s.t.Helper()
	verifier, err := note.NewVerifier(strings.TrimSuffix(string(s.get(200, "/log/vkey").body), "\n"))
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := proof.ParseProof(a.body)
	if err != nil {
		s.t.Fatal(err)
	}
	leaf, c, err := p.Verify(note.VerifierList(verifier))
	if err != nil {
		s.t.Fatal(err)
	}
	if want, _ := strings.CutPrefix(baseURL, "https://"); c.Origin != want+"/log" {
		s.t.Errorf("the origin is %s", c.Origin)
	}
	return p, leaf
}

// TestReportProof: the proof of a report is that of its newest change.
func TestReportProof(t *testing.T) {
	s := start(t, "demo", querytest.Market())
	var list struct{ Data []struct{ ID, Title string } }
	if err := json.Unmarshal(s.get(200, "/api/v1/reports").body, &list); err != nil {
		t.Fatal(err)
	}
	for _, report := range list.Data {
		_, leaf := s.proofOf(s.get(200, "/api/v1/reports/"+strings.ToUpper(report.ID)+"/proof"))
		var record struct{ ID, Title string }
		if err := json.Unmarshal(leaf.Record, &record); err != nil || record.ID != report.ID || record.Title != report.Title {
			t.Errorf("the proof of %+v has the record %+v, %v", report, record, err)
		}
	}
	before, _ := s.proofOf(s.get(200, "/api/v1/reports/"+list.Data[0].ID+"/proof"))
	market := querytest.Market()
	for i := range market.Reports {
		if r := &market.Reports[i]; disclosure.ReportID(r.Type, r.Number) == list.Data[0].ID {
			r.Title = "Otro título"
			s.append(store.Batch{Reports: market.Reports[i : i+1]})
		}
	}
	s.updateProofs()
	after, leaf := s.proofOf(s.get(200, "/api/v1/reports/"+list.Data[0].ID+"/proof"))
	if after.Seq != after.TreeSize || after.Seq <= before.Seq || leaf.Event != "report.updated" || !strings.Contains(string(leaf.Record), "Otro título") {
		t.Errorf("after an update the proof is of change %d of %d: %s", after.Seq, after.TreeSize, leaf.Record)
	}
	for target, status := range map[string]int{"/api/v1/reports/oir-999999/proof": 404, "/api/v1/reports/nonsense/proof": 404} {
		s.get(status, target)
	}
}

// TestChangeProof: every change can be proved, with the scopes of its record.
func TestChangeProof(t *testing.T) {
	s := start(t, "demo", querytest.Market())
	newest := s.catalog.Snapshot().Seq()
	for seq := int64(1); seq <= newest; seq++ {
		target := fmt.Sprintf("/api/v1/changes/%d/proof", seq)
		p, leaf := s.proofOf(s.getWith(200, target, scopes("read:reports+read:issuers")))
		if p.Seq != seq || leaf.Seq != seq {
			t.Errorf("%s is of %d and %d", target, p.Seq, leaf.Seq)
		}
		status := 200
		if leaf.Event == "issuer.updated" {
			status = 403
		}
		s.getWith(status, target, scopes("read:reports"))
	}
	s.get(401, "/api/v1/changes/1/proof")
	s.getWith(403, "/api/v1/changes/1/proof", scopes("read:issuers"))
	for seq, status := range map[string]int{
		fmt.Sprint(newest + 1): 404, "9223372036854775807": 404,
		"0": 400, "-1": 400, "x": 400, "01": 400, "+1": 400, "1.0": 400, "9223372036854775808": 400,
	} {
		s.getWith(status, "/api/v1/changes/"+seq+"/proof", scopes("read:reports+read:issuers"))
	}
}

// TestLog: checkpoint, key and tiles are public; entries need a credential.
func TestLog(t *testing.T) {
	s := start(t, "demo", querytest.Market())
	newest := s.catalog.Snapshot().Seq()
	checkpoint := s.get(200, "/log/checkpoint")
	if lines := strings.Split(string(checkpoint.body), "\n"); lines[1] != fmt.Sprint(newest) || checkpoint.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%v %s", checkpoint.header, checkpoint.body)
	}
	if key := string(s.get(200, "/log/vkey").body); strings.Count(key, "\n") != 1 || strings.Count(key, "+") < 2 {
		t.Errorf("the key is %q", key)
	}
	path := fmt.Sprintf("/log/tile/0/000.p/%d", newest)
	tile := s.get(200, path)
	if len(tile.body) != int(newest)*32 || tile.header.Get("Cache-Control") != "public, max-age=60" {
		t.Errorf("the tile has %d bytes, %v", len(tile.body), tile.header)
	}
	entries := strings.Replace(path, "tile/0", "tile/entries", 1)
	s.get(401, entries)
	s.getWith(403, entries, scopes("read:reports"))
	bundle := s.getWith(200, entries, scopes("read:reports+read:issuers"))
	leaves, err := proof.ParseEntries(bundle.body, int(newest))
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range leaves {
		if leaf, err := disclosure.ParseLeaf(text); err != nil || leaf.Seq != int64(i+1) {
			t.Errorf("entry %d is %s, %v", i, text, err)
		}
	}
	for _, path := range []string{"0/000", "0/001.p/1", "1/000", "0/000.p/0", "0/000.p/256", "0/x000/000", "0/0", "-1/000", "64/000", "data/000", "x"} {
		s.get(404, "/log/tile/"+path)
	}
}

// TestLogBeforeItIsLoaded: a client may come back.
func TestLogBeforeItIsLoaded(t *testing.T) {
	s := startEmpty(t, "demo")
	s.append(querytest.Market())
	for _, target := range []string{"/log/checkpoint", "/log/vkey", "/log/tile/0/000.p/1", "/api/v1/reports/ip-3123/proof"} {
		s.get(503, target)
	}
}
