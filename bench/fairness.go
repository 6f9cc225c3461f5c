package main

import (
	"net/url"
	"time"
)

// fairness compares how long the requests of one key take beside another that
// sends as fast as it can over many connections, to how long they take alone.
// In turns; the flood's own client competes for the processors too.
func (b *bench) fairness() error {
	const connections, asked, flooding = 48, 1000, 6 * time.Second
	path, err := b.storeOf(whole)
	if err != nil {
		return err
	}
	p, err := b.serve(path)
	if err != nil {
		return err
	}
	defer p.stop()
	var keys [2]string
	for i := range keys {
		if keys[i], err = b.key("sqlite:" + path); err != nil {
			return err
		}
	}
	mine := make([][]byte, asked)
	for i, q := range queries(asked) {
		mine[i] = request("/api/v1/reports?search="+url.QueryEscape(q), "X-API-Key: "+keys[0])
	}
	flood := [][]byte{request("/api/v1/reports?limit=100", "X-API-Key: "+keys[1])}
	var ratios []float64
	for range rounds {
		alone, err := latencies(p.url, mine, 1)
		if err != nil {
			return err
		}
		flooded := make(chan error, 1)
		go func() {
			_, err := rateOf(connections, p.url, flood, flooding)
			flooded <- err
		}()
		time.Sleep(time.Second) // until it is under way
		beside, err := latencies(p.url, mine, 1)
		if err != nil {
			return err
		}
		if err := <-flooded; err != nil {
			return err
		}
		ratios = append(ratios, percentile(beside, 0.99)/percentile(alone, 0.99))
	}
	figure("fairness.p99", median(ratios), "ratio")
	return nil
}
