package jwks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const maxSize = 512 << 10 // decompressed

// fetch returns the body at a URL, and how long it is fresh.
func fetch(ctx context.Context, client *http.Client, address string) ([]byte, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("User-Agent", "pregon")
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	res, err := client.Do(req)
	if e, ok := errors.AsType[*url.Error](err); ok {
		return nil, 0, e.Err // without the URL, which the caller adds
	}
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("the answer has status %d", res.StatusCode)
	}
	body, err := readAll(res.Body)
	return body, freshness(res.Header), err
}

// read returns the content of a regular file.
func read(path string) ([]byte, time.Duration, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() { // a pipe would block until it has a writer
		return nil, 0, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	body, err := readAll(f)
	return body, defaultFresh, err
}

func readAll(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxSize {
		return nil, fmt.Errorf("it is longer than %d KiB", maxSize>>10)
	}
	return body, nil
}

// freshness returns the lifetime in the headers, between minFresh and maxFresh.
func freshness(h http.Header) time.Duration {
	fresh := defaultFresh
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return minFresh
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			if err == nil || errors.Is(err, strconv.ErrRange) { // ErrRange returns the maximum
				fresh = min(max(time.Duration(seconds)*time.Second, minFresh), maxFresh)
			}
		}
	}
	return fresh
}
