// Package buckettest starts an S3-compatible server with a bucket for a test, which
// the test can kill, pause and restart.
package buckettest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"pregon/internal/test/longtest"
	"pregon/internal/test/processtest"
)

// The bucket of every server, and its credentials.
const (
	Address   = "s3://originals/cnmv"
	Bucket    = "originals"
	Region    = "us-east-1"
	AccessKey = "AKIDOFTHETEST"
	SecretKey = "a-secret-of-the-test-that-nothing-may-log"
)

// version is the directory of the server that scripts/install-test-needs builds.
const version = "versitygw-v1.8.0"

// Server is a server that keeps its objects as files of the test's directory.
type Server struct {
	*processtest.Process
	t       testing.TB
	program string
	dir     string
	address string
}

// Start starts a server that ends with the test, or with the test's process
// when that is killed.
func Start(t testing.TB) *Server {
	t.Helper()
	longtest.Skip(t, "it needs an S3 server")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, dir: t.TempDir(), program: filepath.Join(cache, "pregon-test", version, "versitygw")}
	s.start()
	t.Cleanup(func() { s.Kill() }) // the process of that time
	s.send(http.MethodPut, "/"+Bucket, nil)
	return s
}

// URL returns the address of the server.
func (s *Server) URL() string { return "http://" + s.address }

// Restart starts a killed server again, at the same address and with its objects.
func (s *Server) Restart() {
	s.t.Helper()
	s.start()
}

// Put writes an object, which may have the wrong bytes for its key.
func (s *Server) Put(key string, body []byte) {
	s.t.Helper()
	s.send(http.MethodPut, "/"+Bucket+"/"+key, body)
}

// Remove removes an object.
func (s *Server) Remove(key string) {
	s.t.Helper()
	s.send(http.MethodDelete, "/"+Bucket+"/"+key, nil)
}

// Keys returns the keys of all objects.
func (s *Server) Keys() (keys []string) {
	s.t.Helper()
	var list struct {
		Contents []struct{ Key string }
	}
	if err := xml.Unmarshal(s.send(http.MethodGet, "/"+Bucket+"?list-type=2", nil), &list); err != nil {
		s.t.Fatal(err)
	}
	for _, o := range list.Contents {
		keys = append(keys, o.Key)
	}
	return keys
}

// send sends a request, which must succeed.
func (s *Server) send(method, target string, body []byte) []byte {
	s.t.Helper()
	ctx := s.t.Context()
	req, err := http.NewRequestWithContext(ctx, method, s.URL()+target, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", hash)
	keys := aws.Credentials{AccessKeyID: AccessKey, SecretAccessKey: SecretKey}
	if err := v4.NewSigner().SignHTTP(ctx, keys, req, hash, "s3", Region, time.Now()); err != nil {
		s.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		s.t.Fatalf("%s %s: got %s, %s, %v; want success", method, target, res.Status, answer, err)
	}
	return answer
}

// start returns when the server answers. Another process may take its port in
// between: then it takes another, unless the port is already known.
func (s *Server) start() {
	s.t.Helper()
	known := s.address
	for deadline := time.Now().Add(5 * time.Minute); ; {
		s.address = cmp.Or(known, freeAddress(s.t))
		var log bytes.Buffer
		cmd := exec.Command(s.program, "--port", s.address, "--quiet", "posix", s.dir)
		cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey, "VGW_REGION="+Region)
		cmd.Stdout, cmd.Stderr = &log, &log
		var err error
		if s.Process, err = processtest.Start(cmd); err != nil {
			s.t.Fatalf("the S3 server does not start: %v: scripts/install-test-needs installs it", err)
		}
		if err = s.Await(s.ping); err == nil {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the S3 server does not answer: %v\n%s", err, &log)
		}
	}
}

// ping sends a request: the server accepts connections before it can serve them.
func (s *Server) ping() error {
	client := http.Client{Timeout: time.Second}
	res, err := client.Get(s.URL())
	if err != nil {
		return err
	}
	return res.Body.Close()
}

func freeAddress(t testing.TB) string {
	t.Helper()
	port, err := processtest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
