package main

import "time"

const (
	rounds = 5
	spell  = 2 * time.Second
)

// http compares requests a second with a bare handler that writes as many
// bytes, in turns.
func (b *bench) http() error {
	path, err := b.storeOf(whole)
	if err != nil {
		return err
	}
	p, err := b.serve(path)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := versusBare(p, "list.vs_bare", [][]byte{request("/api/v1/reports")}); err != nil {
		return err
	}
	return versusBare(p, "search.vs_bare", searches(queries(1000)))
}

func versusBare(p *process, name string, requests [][]byte) error {
	size, err := meanSize(p.url, requests)
	if err != nil {
		return err
	}
	peer, err := bare(size)
	if err != nil {
		return err
	}
	defer peer.stop()
	var ratios, rates []float64
	for range rounds {
		ours, err := rate(p.url, requests, spell)
		if err != nil {
			return err
		}
		theirs, err := rate(peer.url, requests, spell)
		if err != nil {
			return err
		}
		ratios, rates = append(ratios, ours/theirs), append(rates, ours)
	}
	figure(name, median(ratios), "ratio")
	figure(name+".rate", median(rates), "requests/s")
	return nil
}

// growth compares small and large markets.
func (b *bench) growth() error {
	type market struct{ p50, prefix float64 }
	var got []market
	for _, n := range []int{small, large} {
		path, err := b.storeOf(n)
		if err != nil {
			return err
		}
		p, err := b.serve(path)
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
