package bucket

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pregon/internal/fault"
)

const (
	slowest  = 1 << 20 // bytes a second: the least rate at which a file is written
	maxLists = 100     // answers of a list, with a thousand names each
)

// PutFile writes a file of a known size and SHA-256 under a name, all or nothing.
// Names have the form of a prefix.
func (b *Bucket) PutFile(ctx context.Context, name string, file io.ReaderAt, size int64, sha256 string) error {
	if err := checkName(name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout+time.Duration(size/slowest)*time.Second)
	defer cancel()
	return b.failed(b.retry(ctx, func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, b.url+b.path(name),
			io.NewSectionReader(file, 0, size))
		if err != nil {
			return err
		}
		if req.ContentLength = size; size == 0 {
			req.Body = http.NoBody
		}
		res, err := b.do(req, sha256)
		if err != nil {
			return err
		}
		return res.Body.Close()
	}))
}

// OpenFile returns a file from an offset on. It fails, NotFound, when there is none.
// The caller closes it.
func (b *Bucket) OpenFile(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var res *http.Response
	err := b.retry(ctx, func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+b.path(name), nil)
		if err != nil {
			return err
		}
		if offset > 0 {
			req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
		}
		res, err = b.do(req, hashOf(nil))
		return err
	})
	if err != nil {
		cancel()
		if r, ok := errors.AsType[*refusal](err); ok && r.Code == "NoSuchKey" {
			return nil, fault.New(fault.NotFound, "there is no file %s in the bucket %s", name, b.where)
		}
		return nil, b.failed(err)
	}
	return &body{ReadCloser: res.Body, cancel: cancel}, nil
}

// body ends a read that takes too long, however slow the reader of the body is.
type body struct {
	io.ReadCloser
	cancel func()
}

func (r *body) Read(p []byte) (int, error) {
	timer := time.AfterFunc(quietTimeout, r.cancel)
	defer timer.Stop()
	return r.ReadCloser.Read(p)
}

func (r *body) Close() error {
	r.cancel()
	return r.ReadCloser.Close()
}

// Files returns the names of all files.
func (b *Bucket) Files(ctx context.Context) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	under := strings.TrimPrefix(b.path(""), "/")
	query := url.Values{"list-type": {"2"}, "prefix": {under}}
	for range maxLists {
		answer, err := b.send(ctx, http.MethodGet, "?"+query.Encode(), nil)
		if err != nil {
			return nil, b.failed(err)
		}
		var list struct {
			Contents              []struct{ Key string }
			IsTruncated           bool
			NextContinuationToken string
		}
		if err := xml.Unmarshal(answer, &list); err != nil {
			return nil, b.unavailable("answers with a list that is not XML")
		}
		for _, o := range list.Contents {
			names = append(names, strings.TrimPrefix(o.Key, under))
		}
		if !list.IsTruncated {
			return names, nil
		}
		query.Set("continuation-token", list.NextContinuationToken)
	}
	return nil, b.unavailable(fmt.Sprintf("has more than %d files: use a separate prefix", maxLists*1000))
}

// RemoveFile removes a file, if there is one.
func (b *Bucket) RemoveFile(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	_, err := b.send(ctx, http.MethodDelete, b.path(name), nil)
	return b.failed(err)
}

func checkName(name string) error {
	if !validPrefix.MatchString(name) || strings.Contains(name, "..") {
		return fault.New(fault.Invalid, "%q is not a valid name of a file in a bucket: use letters, digits, "+
			"dots, dashes and slashes", name)
	}
	return nil
}
