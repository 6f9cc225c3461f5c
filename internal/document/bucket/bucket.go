// Package bucket keeps files in a bucket of an S3-compatible store: the documents' own
// bytes, under their SHA-256, and others by name.
//
// An object is written whole or not at all, and always has the same bytes, so that
// writing it may be repeated at any time. Requests are retried a few times and have a
// deadline. Errors name the setting to check, and never contain a credential.
package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const (
	maxObject    = 64 << 20 // bytes; documents have 50 MB at most
	maxError     = 16 << 10 // bytes of an error
	attempts     = 3
	backoff      = 500 * time.Millisecond // after the first attempt; then twice as long
	dialTimeout  = 5 * time.Second
	quietTimeout = 30 * time.Second // for the first byte of an answer
)

// Options describe a bucket.
type Options struct {
	Address   string // s3://BUCKET or s3://BUCKET/PREFIX
	Flag      string // the setting of Address, for errors; empty is --documents-s3
	Endpoint  string // http:// or https:// and a host; empty for the one of AWS in the region
	Region    string // of the bucket
	AccessKey string
	SecretKey string
	Timeout   time.Duration // of a whole operation, with its retries; 0 is two minutes
}

// Bucket is a bucket, or a part of one.
type Bucket struct {
	url         string // of the bucket
	prefix      string
	region      string
	credentials aws.Credentials
	signer      *v4.Signer
	client      *http.Client
	where, flag string // for errors
	timeout     time.Duration
}

var (
	validName   = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	validPrefix = regexp.MustCompile(`^[A-Za-z0-9._=-]+(/[A-Za-z0-9._=-]+)*$`)
)

// Parse splits the address of a bucket.
func Parse(address string) (name, prefix string, err error) {
	path, ok := strings.CutPrefix(address, "s3://")
	name, prefix, _ = strings.Cut(path, "/")
	prefix = strings.TrimSuffix(prefix, "/")
	validPath := prefix == "" || validPrefix.MatchString(prefix) && !strings.Contains(prefix, "..")
	if !ok || !validName.MatchString(name) || !validPath {
		return "", "", fault.New(fault.Invalid,
			"must be s3://BUCKET or s3://BUCKET/PREFIX, with letters, digits, dots and dashes")
	}
	return name, prefix, nil
}

// Open returns a bucket. It fails if the bucket cannot be used.
func Open(ctx context.Context, o Options) (*Bucket, error) {
	b, err := New(o)
	if err != nil {
		return nil, err
	}
	return b, b.Check(ctx)
}

// New returns a bucket. It sends no request.
func New(o Options) (*Bucket, error) {
	name, prefix, err := Parse(o.Address)
	if err != nil {
		return nil, err
	}
	if o.AccessKey == "" || o.SecretKey == "" {
		return nil, fault.New(fault.Invalid, "a bucket needs PREGON_S3_ACCESS_KEY and PREGON_S3_SECRET_KEY")
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	b := &Bucket{
		url:         "https://" + name + ".s3." + o.Region + ".amazonaws.com",
		prefix:      prefix,
		region:      o.Region,
		where:       o.Address,
		timeout:     o.Timeout,
		flag:        cmp.Or(o.Flag, "--documents-s3"),
		credentials: aws.Credentials{AccessKeyID: o.AccessKey, SecretAccessKey: o.SecretKey},
		signer:      v4.NewSigner(func(s *v4.SignerOptions) { s.DisableURIPathEscaping = true }), // as S3 requires
		client:      newClient(),
	}
	if o.Endpoint != "" {
		b.url = strings.TrimRight(o.Endpoint, "/") + "/" + name
		b.where += " at " + o.Endpoint
	}
	return b, nil
}

func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout:   dialTimeout,
			ResponseHeaderTimeout: quietTimeout,
			IdleConnTimeout:       time.Minute,
			MaxIdleConnsPerHost:   4,
			ForceAttemptHTTP2:     true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a wrong region
	}
}

// path returns the path of an object in the bucket.
func (b *Bucket) path(sha256 string) string {
	if b.prefix == "" {
		return "/" + sha256
	}
	return "/" + b.prefix + "/" + sha256
}

// Check fails unless the bucket exists and answers with these credentials.
func (b *Bucket) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, min(b.timeout, quietTimeout))
	defer cancel()
	// Unlike HEAD, a failed list has an error code.
	_, err := b.send(ctx, http.MethodGet, "?"+
		url.Values{"list-type": {"2"}, "max-keys": {"1"}, "prefix": {b.prefix}}.Encode(), nil)
	return b.failed(err)
}

// PutOriginal stores a document's bytes, all or nothing.
func (b *Bucket) PutOriginal(ctx context.Context, sha256 string, body []byte) error {
	if err := store.CheckHash(sha256); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	_, err := b.send(ctx, http.MethodPut, b.path(sha256), body)
	return b.failed(err)
}

// Original returns a document's bytes. It fails, NotFound, when they are not stored.
func (b *Bucket) Original(ctx context.Context, sha256 string) ([]byte, error) {
	if !store.IsHash(sha256) {
		return nil, store.NoDocument(sha256)
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	body, err := b.send(ctx, http.MethodGet, b.path(sha256), nil)
	if r, ok := errors.AsType[*refusal](err); ok && r.Code == "NoSuchKey" {
		return nil, store.NoDocument(sha256)
	}
	if err != nil {
		return nil, b.failed(err)
	}
	if hashOf(body) != sha256 {
		return nil, fault.Wrap(fault.Unavailable, store.ErrDamaged,
			"the object %s in %s does not have the bytes of that SHA-256: it was changed or damaged",
			b.path(sha256), b.where)
	}
	return body, nil
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// refusal is an answer that is not a success.
type refusal struct {
	status int
	Code   string `xml:"Code"`
}

func (r *refusal) Error() string { return strings.TrimSpace(fmt.Sprintf("%d %s", r.status, r.Code)) }

// again reports whether another attempt may succeed.
func (r *refusal) again() bool {
	return r.status >= http.StatusInternalServerError || r.status == http.StatusTooManyRequests ||
		r.status == http.StatusRequestTimeout
}

// send sends a request and returns the body of the answer. It tries again after a
// failure of the network or of the server.
func (b *Bucket) send(ctx context.Context, method, target string, body []byte) (answer []byte, err error) {
	hash := hashOf(body)
	err = b.retry(ctx, func() error {
		answer, err = b.attempt(ctx, method, target, hash, bytes.NewReader(body))
		return err
	})
	return answer, err
}

// retry calls an attempt again after a failure of the network or of the server.
func (b *Bucket) retry(ctx context.Context, attempt func() error) error {
	wait := backoff
	for n := 1; ; n++ {
		err := attempt()
		r, refused := errors.AsType[*refusal](err)
		final := n == attempts || refused && !r.again()
		if err == nil || ctx.Err() != nil || final {
			return err
		}
		if retry.Sleep(ctx, wait) != nil {
			return err
		}
		wait *= 2
	}
}

func (b *Bucket) attempt(ctx context.Context, method, target, hash string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, b.url+target, body)
	if err != nil {
		return nil, err
	}
	res, err := b.do(req, hash)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(io.LimitReader(res.Body, maxObject))
}

// do signs and sends a request, whose body has a hash. The caller closes the body of
// the answer.
func (b *Bucket) do(req *http.Request, hash string) (*http.Response, error) {
	req.Header.Set("X-Amz-Content-Sha256", hash)
	if err := b.signer.SignHTTP(req.Context(), b.credentials, req, hash, "s3", b.region, time.Now()); err != nil {
		return nil, err
	}
	res, err := b.client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 == 2 {
		return res, nil
	}
	defer res.Body.Close()
	r := &refusal{}
	_ = xml.NewDecoder(io.LimitReader(res.Body, maxError)).Decode(r) // without an error document the code is empty
	r.status = res.StatusCode
	return nil, r
}

// failed returns an error of kind Unavailable that names what to check.
func (b *Bucket) failed(err error) error {
	if err == nil {
		return nil
	}
	status, code := 0, ""
	if r, ok := errors.AsType[*refusal](err); ok {
		status, code = r.status, r.Code
	}
	switch {
	case code == "NoSuchBucket":
		return b.unavailable("does not exist: create it, or correct " + b.flag)
	case status == http.StatusForbidden || status == http.StatusUnauthorized || status == http.StatusNotFound: // some answer 404 to an unknown key
		return b.unavailable(fmt.Sprintf(
			"refuses the request (%d %s): check PREGON_S3_ACCESS_KEY, PREGON_S3_SECRET_KEY, the clock of this "+
				"machine and the policy of the bucket", status, code))
	case status >= 300 && status < 400:
		return b.unavailable("is in another region: correct --s3-region or --s3-endpoint")
	case status != 0:
		return b.unavailable(strings.TrimSpace(fmt.Sprintf("answers %d %s", status, code)))
	case errors.Is(err, context.DeadlineExceeded):
		return b.unavailable("does not answer in time: check --s3-endpoint and the network")
	case errors.Is(err, context.Canceled):
		return context.Canceled
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	return b.unavailable("does not answer: check --s3-endpoint and the network: " + err.Error())
}

func (b *Bucket) unavailable(reason string) error {
	return fault.New(fault.Unavailable, "the bucket %s %s", b.where, reason)
}
