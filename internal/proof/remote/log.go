// Package remote reads a log over HTTP and checks that it only grows.
//
// It trusts a server with nothing: a checkpoint counts by its signature, and a tile
// by the root of a checkpoint. Every answer has a largest size, every attempt a
// deadline, and a redirect to another host is an error.
package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/fault"
	"pregon/internal/proof"
	"pregon/internal/retry"
	"pregon/internal/server/origin"
)

const (
	attempts     = 6
	firstWait    = 500 * time.Millisecond
	longestWait  = 8 * time.Second
	longestPause = time.Minute // that a server may ask for
	deadline     = 30 * time.Second
	maxRedirects = 5
	maxKeys      = 4 << 10 // bytes of the answer of /log/vkey
)

// Log is a log that is served as tlog-tiles says.
type Log struct {
	address string // without a slash at the end
	key     string
	client  *http.Client
}

// New returns the log at the address of a service, or at its own address, which ends
// in /log. The key is an API key of the service, or empty.
func New(address, key string) (*Log, error) {
	u, ok := origin.ParseHTTP(address)
	if !ok || strings.ContainsAny(address, "?#") {
		return nil, fault.New(fault.Invalid,
			"%q must be the http:// or https:// address of a service, or of its log, which ends in /log", address)
	}
	address = strings.TrimRight(address, "/")
	if !strings.HasSuffix(u.Path, "/log") && !strings.HasSuffix(address, "/log") {
		address += "/log"
	}
	return &Log{address, key, &http.Client{Timeout: deadline, CheckRedirect: checkRedirect}}, nil
}

var errRedirect = errors.New("it redirects to another host, or too often")

// checkRedirect refuses to send the key, or to trust an answer, elsewhere.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > maxRedirects || req.URL.Host != first.Host || first.Scheme == "https" && req.URL.Scheme != "https" {
		return errRedirect
	}
	return nil
}

// Address returns the address of the log.
func (l *Log) Address() string { return l.address }

// Checkpoint returns the newest checkpoint, a signed note.
func (l *Log) Checkpoint(ctx context.Context) ([]byte, error) {
	return l.get(ctx, l.address+"/checkpoint", proof.MaxCheckpoint)
}

// Keys returns the keys that the server says are those of the log.
func (l *Log) Keys(ctx context.Context) (Keys, error) {
	text, err := l.get(ctx, l.address+"/vkey", maxKeys)
	if err != nil {
		return nil, err
	}
	keys, err := ParseKeys(string(text))
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s/vkey: %v", l.address, err)
	}
	return keys, nil
}

// tile returns the bytes of a tile of hashes, or a bundle of entries. A server may
// remove a partial tile once the log has outgrown it, so that the answer may be the
// complete one.
func (l *Log) tile(ctx context.Context, t tlog.Tile, entries bool, most int64) (data []byte, width int, err error) {
	data, err = l.get(ctx, l.address+"/"+proof.TilePath(t, entries), most*int64(t.W))
	if fault.KindOf(err) == fault.NotFound && t.W < proof.TileWidth {
		t.W = proof.TileWidth
		data, err = l.get(ctx, l.address+"/"+proof.TilePath(t, entries), most*int64(t.W))
	}
	return data, t.W, err
}

// hashes returns the bytes of a tile of hashes. They are not verified.
func (l *Log) hashes(ctx context.Context, t tlog.Tile) ([]byte, error) {
	data, width, err := l.tile(ctx, t, false, tlog.HashSize)
	if err != nil {
		return nil, err
	}
	if len(data) != width*tlog.HashSize {
		return nil, &Mismatch{
			Kind: Tiles,
			Detail: fmt.Sprintf("%s has %d bytes instead of %d", proof.TilePath(t, false), len(data),
				width*tlog.HashSize),
		}
	}
	return data[:t.W*tlog.HashSize], nil
}

// entries returns the entries of the leaves of a tile. They are not verified.
func (l *Log) entries(ctx context.Context, t tlog.Tile) ([][]byte, error) {
	data, width, err := l.tile(ctx, t, true, proof.MaxEntry+2)
	if err != nil {
		return nil, err
	}
	entries, err := proof.ParseEntries(data, width)
	if err != nil {
		return nil, &Mismatch{Kind: Tiles, Detail: fmt.Sprintf("%s: %v", proof.TilePath(t, true), err)}
	}
	return entries[:t.W], nil
}

// proof returns the proof of a change. It is not verified.
func (l *Log) proof(ctx context.Context, seq int64) (proof.Proof, error) {
	address := strings.TrimSuffix(l.address, "/log") + "/api/v1/changes/" + strconv.FormatInt(seq, 10) + "/proof"
	text, err := l.get(ctx, address, proof.MaxProof)
	if err != nil {
		return proof.Proof{}, err
	}
	p, err := proof.ParseProof(text)
	if err != nil {
		return p, fault.New(fault.Invalid, "%s: %v", address, err)
	}
	return p, nil
}

// get returns a body of at most most bytes. It tries again when the server does not
// answer, fails, or has no capacity.
func (l *Log) get(ctx context.Context, address string, most int64) ([]byte, error) {
	for failures := 0; ; failures++ {
		body, err := l.try(ctx, address, most)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Unavailable || failures == attempts-1 {
			return body, err
		}
		wait := max(f.RetryAfter, retry.Jitter(retry.Backoff(failures, firstWait, longestWait)))
		if err := retry.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func (l *Log) try(ctx context.Context, address string, most int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if l.key != "" {
		req.Header.Set("X-API-Key", l.key)
	}
	resp, err := l.client.Do(req)
	if errors.Is(err, errRedirect) {
		return nil, fault.New(fault.Invalid, "%s: %v", address, errRedirect)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "%s does not answer", address)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the answer of %s is incomplete", address)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, refused(address, resp, body)
	}
	if int64(len(body)) > most {
		return nil, fault.New(fault.Invalid,
			"the answer of %s is longer than %d bytes, the most that it can have", address, most)
	}
	return body, nil
}

// refused returns the error for an answer with another status than 200.
func refused(address string, resp *http.Response, body []byte) error {
	var problem struct{ Detail string }
	_ = json.Unmarshal(body, &problem) // without a problem document the detail is empty
	f := fault.New(fault.Invalid, "%s answers %s", address, resp.Status)
	if problem.Detail != "" {
		f.Message += ": " + problem.Detail
	}
	switch code := resp.StatusCode; {
	case code == http.StatusNotFound:
		f.Kind = fault.NotFound
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		f.Kind = fault.Unauthorized
	case code == http.StatusTooManyRequests || code >= 500:
		f.Kind = fault.Unavailable
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			f.RetryAfter = min(time.Duration(min(seconds, 3600))*time.Second, longestPause)
		}
	}
	return f
}
