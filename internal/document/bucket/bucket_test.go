package bucket_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"pregon/internal/document/bucket"
	"pregon/internal/document/bucket/buckettest"
	"pregon/internal/fault"
)

func open(t *testing.T, url string, change ...func(*bucket.Options)) *bucket.Bucket {
	t.Helper()
	o := bucket.Options{
		Address: buckettest.Address, Endpoint: url, Region: buckettest.Region, AccessKey: buckettest.AccessKey, SecretKey: buckettest.SecretKey,
		Timeout: 5 * time.Minute, // long enough for a busy machine
	}
	for _, f := range change {
		f(&o)
	}
	b, err := bucket.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// large returns 50 MB that cannot be compressed.
func large() []byte {
	random := rand.NewChaCha8([32]byte{7})
	body := make([]byte, 50<<20)
	_, _ = random.Read(body) // never fails
	return body
}

func TestOriginals(t *testing.T) {
	s := buckettest.Start(t)
	b := open(t, s.URL())
	if err := b.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{"small": []byte("%PDF-1.7\n\x00\xff"), "empty": {}, "50 MB": large()} {
		hash := hashOf(body)
		if _, err := b.Original(t.Context(), hash); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s, before it is put: got error %v, want NotFound", name, err)
		}
		for range 2 { // it may be repeated
			if err := b.PutOriginal(t.Context(), hash, body); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got, err := b.Original(t.Context(), hash); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%s: got %d bytes, %v; want %d", name, len(got), err, len(body))
		}
	}
	for _, key := range s.Keys() {
		if !strings.HasPrefix(key, "cnmv/") || len(key) != len("cnmv/")+64 {
			t.Errorf("got key %s, want cnmv/ and a SHA-256", key)
		}
	}
	for _, hash := range []string{"", "../secret", strings.Repeat("AB", 32)} {
		if err := b.PutOriginal(t.Context(), hash, nil); fault.KindOf(err) != fault.Invalid {
			t.Errorf("PutOriginal(%q): got error %v, want Invalid", hash, err)
		}
		if _, err := b.Original(t.Context(), hash); fault.KindOf(err) != fault.NotFound {
			t.Errorf("Original(%q): got error %v, want NotFound", hash, err)
		}
	}
	changed := hashOf([]byte("original"))
	s.Put("cnmv/"+changed, []byte("forged"))
	if _, err := b.Original(t.Context(), changed); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "changed or damaged") {
		t.Errorf("a changed object: got error %v, want one that says so", err)
	}
}

// refused checks that every operation fails with a message, which has no secret.
func refused(t *testing.T, b *bucket.Bucket, want string) {
	t.Helper()
	ctx, hash := t.Context(), hashOf(nil)
	_, err := b.Original(ctx, hash)
	for name, err := range map[string]error{"Check": b.Check(ctx), "PutOriginal": b.PutOriginal(ctx, hash, nil), "Original": err} {
		switch {
		case fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), want):
			t.Errorf("%s: got error %v, want Unavailable with %q", name, err, want)
		case strings.Contains(err.Error(), "secret-of") || strings.Contains(err.Error(), buckettest.AccessKey) || strings.Contains(err.Error(), "another-key"):
			t.Errorf("%s: the error has a credential: %v", name, err)
		}
	}
}

func TestFailures(t *testing.T) {
	s := buckettest.Start(t)
	t.Run("wrong secret", func(t *testing.T) {
		refused(t, open(t, s.URL(), func(o *bucket.Options) { o.SecretKey = "another-key" }), "check PREGON_S3_ACCESS_KEY, PREGON_S3_SECRET_KEY")
	})
	t.Run("wrong key", func(t *testing.T) {
		refused(t, open(t, s.URL(), func(o *bucket.Options) { o.AccessKey = "another-key" }), "check PREGON_S3_ACCESS_KEY, PREGON_S3_SECRET_KEY")
	})
	t.Run("no bucket", func(t *testing.T) {
		refused(t, open(t, s.URL(), func(o *bucket.Options) { o.Address = "s3://nothing-here" }), "create it, or correct --documents-s3")
	})
	t.Run("down", func(t *testing.T) {
		b := open(t, s.URL())
		s.Kill()
		refused(t, b, "check --s3-endpoint")
		s.Restart()
		if err := b.Check(t.Context()); err != nil {
			t.Errorf("after a restart: %v", err)
		}
	})
	t.Run("slow", func(t *testing.T) {
		s.Pause()
		defer s.Resume()
		refused(t, open(t, s.URL(), func(o *bucket.Options) { o.Timeout = 200 * time.Millisecond }), "does not answer in time")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := open(t, s.URL()).Check(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled check: got error %v, want Canceled", err)
		}
	})
	t.Run("not a server of objects", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				_, _ = conn.Write([]byte("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
				_ = conn.Close()
			}
		}()
		refused(t, open(t, "http://"+l.Addr().String()), "the bucket s3://originals/cnmv at http://127.0.0.1:")
	})
}

func TestParse(t *testing.T) {
	for address, want := range map[string][2]string{
		"s3://abc": {"abc", ""}, "s3://my.bucket-1/": {"my.bucket-1", ""}, "s3://abc/a/b=c_d/": {"abc", "a/b=c_d"},
	} {
		name, prefix, err := bucket.Parse(address)
		if err != nil || name != want[0] || prefix != want[1] {
			t.Errorf("Parse(%s) = %s, %s, %v; want %v", address, name, prefix, err, want)
		}
	}
	for _, address := range []string{"", "abc", "s3:/abc", "s3://", "s3://A", "s3://ab", "https://abc", "s3://abc//x", "s3://abc/../x", "s3://abc/x y", "s3://user:secret@abc"} {
		if _, _, err := bucket.Parse(address); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Parse(%s): got error %v, want Invalid", address, err)
		}
	}
	if _, err := bucket.New(bucket.Options{Address: "s3://abc", Region: "x"}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("New without keys: got error %v, want Invalid", err)
	}
}
