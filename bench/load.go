package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// client sends requests over one connection. It is minimal, because it runs on the
// same machine as the server that it measures.
type client struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(base string) (*client, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		return nil, err
	}
	return &client{conn, bufio.NewReaderSize(conn, 64<<10)}, nil
}

func request(target string, headers ...string) []byte {
	return []byte("GET " + target + " HTTP/1.1\r\n" + strings.Join(append(headers, "Host: bench"), "\r\n") + "\r\n\r\n")
}

// get sends a request and returns the size of the response body.
func (c *client) get(req []byte) (int, error) {
	if _, err := c.conn.Write(req); err != nil {
		return 0, err
	}
	status, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	unchanged := bytes.Contains(status, []byte(" 304 ")) // has no body
	if !unchanged && !bytes.Contains(status, []byte(" 200 ")) {
		return 0, fmt.Errorf("%s: got status %s", req, status)
	}
	size := -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if size, err = strconv.Atoi(string(bytes.TrimSpace(v))); err != nil {
				return 0, err
			}
		}
	}
	if unchanged {
		return 0, nil
	}
	if size < 0 {
		return 0, fmt.Errorf("%s: the response has no length", req)
	}
	_, err = c.in.Discard(size)
	return size, err
}

// rate returns the requests a second that a server answers over a few connections
// without pauses.
func rate(base string, requests [][]byte, d time.Duration) (float64, error) {
	return rateOf(8, base, requests, d)
}

func rateOf(connections int, base string, requests [][]byte, d time.Duration) (float64, error) {
	var done atomic.Int64
	var failed atomic.Value
	var wg sync.WaitGroup
	start := time.Now()
	for n := range connections {
		wg.Go(func() {
			c, err := dial(base)
			if err != nil {
				failed.Store(err)
				return
			}
			defer c.conn.Close()
			for i := n * 7919; time.Since(start) < d; i++ {
				if _, err := c.get(requests[i%len(requests)]); err != nil {
					failed.Store(err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	if err, ok := failed.Load().(error); ok {
		return 0, err
	}
	return float64(done.Load()) / time.Since(start).Seconds(), nil
}

// latencies sends the requests one after another, rounds times, and returns how long
// each took, shortest first.
func latencies(base string, requests [][]byte, rounds int) ([]time.Duration, error) {
	c, err := dial(base)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	var out []time.Duration
	for range rounds {
		for _, r := range requests {
			start := time.Now()
			if _, err := c.get(r); err != nil {
				return nil, err
			}
			out = append(out, time.Since(start))
		}
	}
	slices.Sort(out)
	return out, nil
}

func percentile(sorted []time.Duration, p float64) float64 {
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)].Seconds()
}

// meanSize returns the mean size of the responses.
func meanSize(base string, requests [][]byte) (int, error) {
	c, err := dial(base)
	if err != nil {
		return 0, err
	}
	defer c.conn.Close()
	sum := 0
	for _, r := range requests {
		n, err := c.get(r)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum / len(requests), nil
}

func searches(texts []string) [][]byte {
	out := make([][]byte, len(texts))
	for i, q := range texts {
		out[i] = request("/api/v1/reports?search=" + url.QueryEscape(q))
	}
	return out
}

// median returns the median of a few measurements, which reduces the noise of the
// machine.
func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
