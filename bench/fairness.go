package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	floodTime        = 4 * time.Second
	floodConnections = 48
)

// floodMain requests the list with a key as fast as it can: flood BASE KEY. It is a
// separate process, so that it shares only the service and the machine with the
// requests that are measured.
func floodMain(args []string) {
	if _, err := rateOf(floodConnections, args[0], [][]byte{request("/api/v1/reports", "X-API-Key: "+args[1])}, floodTime); err != nil {
		fmt.Fprintln(os.Stderr, "flood:", err)
		os.Exit(1)
	}
}

// fairness compares how long the requests of one key take while another key sends
// as fast as it can over many connections, to how long they take alone, in turns.
// The same with a bare handler shows the share of the machine.
func (b *bench) fairness() error {
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
	mine := make([][]byte, 1000)
	for i, q := range queries(len(mine)) {
		mine[i] = request("/api/v1/reports?search="+url.QueryEscape(q), "X-API-Key: "+keys[0])
	}
	if err := besideFlood("fairness.p99", p.url, keys[1], mine); err != nil {
		return err
	}
	peer, err := bareLike(p, mine)
	if err != nil {
		return err
	}
	defer peer.stop()
	return besideFlood("fairness.p99.bare", peer.url, keys[1], mine)
}

func besideFlood(name, base, key string, mine [][]byte) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var ratios []float64
	for range rounds {
		alone, err := latencies(base, mine, 1)
		if err != nil {
			return err
		}
		flood := exec.Command(self, "flood", base, key)
		var said strings.Builder
		flood.Stderr = &said
		if err := flood.Start(); err != nil {
			return err
		}
		time.Sleep(time.Second) // until the flood has started
		beside, err := latencies(base, mine, 1)
		if err != nil {
			return err
		}
		if err := flood.Wait(); err != nil {
			return fmt.Errorf("the flood: %w: %s", err, said.String())
		}
		ratios = append(ratios, percentile(beside, 0.99)/percentile(alone, 0.99))
	}
	figure(name, median(ratios), "ratio")
	return nil
}
