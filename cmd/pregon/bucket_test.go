package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pregon/internal/document/bucket/buckettest"
	"pregon/internal/test/longtest"
)

// TestDocumentsInBucket keeps the documents' own bytes in a bucket. A document that
// is fetched while the bucket is down is pending until the bucket answers again.
func TestDocumentsInBucket(t *testing.T) {
	longtest.Skip(t, "it needs an S3 server")
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s3 := buckettest.Start(t)
			flags := []string{"--documents-s3", buckettest.Address, "--s3-endpoint", s3.URL()}
			r := newReader(t, startSource(t), engine(t))
			env := []string{"PREGON_STORE=" + r.spec, "PREGON_S3_ACCESS_KEY=" + buckettest.AccessKey, "PREGON_S3_SECRET_KEY=" + buckettest.SecretKey}
			serve, err := startService(env, r.dir, append(append(sourceArgs(r.source.url), "--source", "cnmv", "--poll", "100ms"), flags...)...)
			if err != nil {
				t.Fatal(err)
			}
			r.ends(serve)
			r.serve = serve
			r.started(t)
			d := r.settles(t, r.source.publish(t, `{"type":"oir","title":"Dividendo","text":%q}`, dividend))
			if got, want := strings.Join(s3.Keys(), " "), "cnmv/"+d.Document.SHA256; d.Document.Status != "ready" || got != want {
				t.Errorf("%+v: got the keys %q, want %q", d.Document, got, want)
			}
			if _, err := r.store.Original(t.Context(), d.Document.SHA256); err == nil {
				t.Error("the store has the bytes too")
			}
			original := func(id string) (string, error) {
				cmd := exec.Command(program, append([]string{"document", id, "--original"}, flags...)...)
				cmd.Env = append(os.Environ(), env...)
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			if out, err := original(d.ID); err != nil || !strings.HasPrefix(out, "%PDF-") {
				t.Errorf("pregon document --original: got %.200q, %v; want a PDF", out, err)
			}
			s3.Kill()
			if out, err := original(d.ID); err == nil || !strings.Contains(out, "check --s3-endpoint") {
				t.Errorf("without the bucket: got %.200q, %v; want what to check", out, err)
			}
			id := r.source.publish(t, `{"type":"ip","title":"Dividendo","text":%q}`, dividend+" Otra vez.")
			eventually(t, func() error {
				var d detail
				if _, err := fetch(r.serve.url, "/api/v1/reports/"+id, &d); err != nil {
					return err
				}
				if d.Document.Status != "pending" || !strings.Contains(d.Document.Reason, "cannot read documents at present") {
					return fmt.Errorf("without the bucket: got %+v, want pending", d.Document)
				}
				return nil
			})
			s3.Restart()
			second := r.settles(t, id)
			if second.Document.Status != "ready" || len(s3.Keys()) != 2 {
				t.Errorf("with the bucket again: got %+v and %d objects, want it ready and 2", second.Document, len(s3.Keys()))
			}
			r.stop(t)
			verifyBucket(t, s3, env, flags, d, second)
			if log := serve.log.String(); strings.Contains(log, buckettest.SecretKey) || strings.Contains(log, buckettest.AccessKey) {
				t.Errorf("the log has a key of the bucket: %s", log)
			}
		})
	}
}

// verifyBucket damages one document and removes another. pregon verify finds both, and
// --repair leaves them as they are.
func verifyBucket(t *testing.T, s3 *buckettest.Server, env, flags []string, damaged, missing detail) {
	t.Helper()
	verify := func(args ...string) (string, error) {
		cmd := exec.Command(program, slices.Concat([]string{"verify"}, flags, args)...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := verify(); err != nil || !strings.Contains(out, "no findings") {
		t.Errorf("a whole bucket: %v\n%s", err, out)
	}
	s3.Put("cnmv/"+damaged.Document.SHA256, []byte("%PDF-1.7 other"))
	s3.Remove("cnmv/" + missing.Document.SHA256)
	for _, args := range [][]string{nil, {"--repair"}} {
		out, err := verify(args...)
		for _, want := range []string{"error bytes, report " + damaged.ID, "warning no-bytes, report " + missing.ID, "(not repairable)", "has 2 findings: 1 bytes, 1 no-bytes"} {
			if err == nil || !strings.Contains(out, want) {
				t.Errorf("verify %q: got %v, want a failure with %q\n%s", args, err, want, out)
			}
		}
	}
	if out, err := verifyStore(strings.TrimPrefix(env[0], "PREGON_STORE=")); err != nil {
		t.Errorf("the store without its bucket: %v\n%s", err, out)
	}
	s3.Kill()
	if out, err := verify(); err == nil || !strings.Contains(out, "check --s3-endpoint") {
		t.Errorf("without the bucket: got %v, want what to check\n%s", err, out)
	}
}

// A bucket that cannot be used ends serve at its start, with what to check.
func TestBucketIsCheckedAtStart(t *testing.T) {
	longtest.Skip(t, "it needs an S3 server")
	s3 := buckettest.Start(t)
	keys := []string{"PREGON_S3_ACCESS_KEY=" + buckettest.AccessKey, "PREGON_S3_SECRET_KEY=" + buckettest.SecretKey}
	for name, test := range map[string]struct {
		env  []string
		args []string
		want string
	}{
		"no keys":                {nil, []string{"--documents-s3", buckettest.Address, "--s3-endpoint", s3.URL()}, "needs PREGON_S3_ACCESS_KEY"},
		"wrong keys":             {[]string{keys[0], "PREGON_S3_SECRET_KEY=x"}, []string{"--documents-s3", buckettest.Address, "--s3-endpoint", s3.URL()}, "check PREGON_S3_ACCESS_KEY"},
		"no bucket":              {keys, []string{"--documents-s3", "s3://other", "--s3-endpoint", s3.URL()}, "create it, or correct --documents-s3"},
		"no bucket of snapshots": {keys, []string{"--bulk-s3", "s3://other", "--s3-endpoint", s3.URL()}, "create it, or correct --bulk-s3"},
		"two places":             {keys, []string{"--bulk-s3", buckettest.Address, "--bulk-dir", "x"}, "--bulk-dir and --bulk-s3 cannot be combined"},
		"no server":              {keys, []string{"--documents-s3", buckettest.Address, "--s3-endpoint", "http://127.0.0.1:1"}, "check --s3-endpoint"},
		"no address":             {keys, []string{"--documents-s3", "originals"}, "--documents-s3 \"originals\" must be s3://BUCKET"},
		"no endpoint":            {keys, []string{"--documents-s3", buckettest.Address, "--s3-endpoint", "minio:9000"}, "--s3-endpoint \"minio:9000\" must be http://"},
		"alone":                  {keys, []string{"--s3-endpoint", s3.URL()}, "--s3-endpoint needs --documents-s3"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0", "--source", "demo", "--store", engines["sqlite"](t)}, test.args...)...)
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), test.env...)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.want) || strings.Contains(string(out), buckettest.SecretKey) {
				t.Errorf("got %s, %v; want a failure with %q", out, err, test.want)
			}
		})
	}
}
