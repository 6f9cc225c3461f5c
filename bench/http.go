package main

import "time"

const (
	rounds = 5
	spell  = 2 * time.Second
)

// http compares requests a second with a bare handler that writes as many
// bytes, in turns.
func (b *bench) http() error {
	p, err := b.serveMarket(whole)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := versusBare(p, "list.vs_bare", [][]byte{request("/api/v1/reports")}); err != nil {
		return err
	}
	if err := versusBare(p, "search.vs_bare", searches(queries(1000))); err != nil {
		return err
	}
	return b.accessLogs()
}

// accessLogs compares a list with a bare handler for each setting of the access
// log; list.vs_bare has the default, all.
func (b *bench) accessLogs() error {
	path, err := b.storeOf(whole)
	if err != nil {
		return err
	}
	for _, setting := range []string{"errors", "off"} {
		p, err := b.serve(path, "--access-log", setting)
		if err != nil {
			return err
		}
		err = versusBare(p, "list.vs_bare."+setting, [][]byte{request("/api/v1/reports")})
		p.stop()
		if err != nil {
			return err
		}
	}
	return nil
}

func versusBare(p *process, name string, requests [][]byte) error {
	peer, err := bareLike(p, requests)
	if err != nil {
		return err
	}
	defer peer.stop()
	return inTurns(name, "requests/s", load{p.url, requests}, load{peer.url, requests})
}

// bareLike starts a handler whose answers are as large as the mean of those to
// requests.
func bareLike(p *process, requests [][]byte) (*process, error) {
	size, err := meanSize(p.url, requests)
	if err != nil {
		return nil, err
	}
	return bare(size)
}

// load is a list of requests that are sent to a service repeatedly.
type load struct {
	url      string
	requests [][]byte
}

// inTurns prints the rate of one load relative to another. A service that has just
// started still checks its store, so the first seconds do not count.
func inTurns(name, unit string, ours, theirs load) error {
	if _, err := rate(ours.url, ours.requests, 3*spell); err != nil {
		return err
	}
	var ratios, rates []float64
	for range rounds {
		one, err := rate(ours.url, ours.requests, spell)
		if err != nil {
			return err
		}
		other, err := rate(theirs.url, theirs.requests, spell)
		if err != nil {
			return err
		}
		ratios, rates = append(ratios, one/other), append(rates, one)
	}
	figure(name, median(ratios), "ratio")
	figure(name+".rate", median(rates), unit)
	return nil
}

// growth compares small and large markets.
func (b *bench) growth() error {
	type market struct{ p50, prefix float64 }
	var got []market
	for _, n := range []int{small, large} {
		p, err := b.serveMarket(n)
		if err != nil {
			return err
		}
		words, err := latencies(p.url, searches(queries(1000)), rounds)
		if err != nil {
			return err
		}
		short, err := latencies(p.url, searches(prefixes()), rounds)
		if err != nil {
			return err
		}
		got = append(got, market{percentile(words, 0.5), percentile(short, 0.99)})
		if err := p.stop(); err != nil {
			return err
		}
	}
	figure("search.growth", got[1].p50/got[0].p50, "ratio")
	figure("search.p50.1M", got[1].p50*1e6, "us")
	figure("prefix.p99.growth", got[1].prefix/got[0].prefix, "ratio")
	figure("prefix.p99.1M", got[1].prefix*1e6, "us")
	return nil
}
