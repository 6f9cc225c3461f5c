package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// A past quarter of HR, so that every run reads the same.
const (
	quarterFrom = "2025-07-01"
	quarterTo   = "2025-09-30"
)

// quarter measures the share of a quarter's HR that is found: by back-fill of
// entities, by back-fill of numbers after it, and live, where as many are
// published again, five a second, while the feed of HR alone fails in turn in
// each of the ways it can.
func (b *bench) quarter() error {
	sim, err := launch(b.program, "sim", "--listen", "127.0.0.1:0", "--rate", "0")
	if err != nil {
		return err
	}
	defer sim.stop()
	filed, err := simulatedHR(sim.url, "&from="+quarterFrom+"&to="+quarterTo)
	if err != nil {
		return err
	}
	first, last := int64(1)<<62, int64(0)
	for id := range filed {
		_, n, _ := disclosure.ParseReportID(id)
		first, last = min(first, n), max(last, n)
	}
	path, err := b.scratch("quarter.db")
	if err != nil {
		return err
	}
	defer b.scratch("quarter.db")
	for _, by := range []struct {
		name string
		args []string
	}{
		{"entity", []string{"--from", quarterFrom, "--to", quarterTo}},
		{"entity_and_number", []string{"--numbers", fmt.Sprintf("%d-%d", first, last)}},
	} {
		cmd := exec.Command(b.program, append([]string{
			"backfill", "--type", "hr", "--pace", "0", "--regulator-url", sim.url, "--exchange-url", sim.url, "--store", "sqlite:" + path,
		}, by.args...)...)
		var log bytes.Buffer
		cmd.Stderr = &log
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("back-fill by %s: %w: %s", by.name, err, log.Bytes())
		}
		p, err := b.serve(path)
		if err != nil {
			return err
		}
		share, err := found(p.url, filed)
		p.stop()
		if err != nil {
			return err
		}
		figure("hr.quarter.by_"+by.name, 100*share, "%")
	}
	return b.quarterLive(sim.url, len(filed))
}

func (b *bench) quarterLive(origin string, n int) error {
	path, err := b.scratch("quarter.db")
	if err != nil {
		return err
	}
	p, err := b.reads(origin, "sqlite:"+path, "--pace", "10ms")
	if err != nil {
		return err
	}
	defer p.stop()
	if err := settle(p); err != nil {
		return err
	}
	faults := []string{"feedcut", "errorpage", "error500", "stall", "truncate", "reset"}
	w := &watched{published: map[string]time.Time{}}
	for i := range n {
		if at := i * 2 * len(faults) / n; i == 0 || at != (i-1)*2*len(faults)/n { // every other period is without a fault
			if err := arm(origin, faults, at); err != nil {
				return err
			}
		}
		if err := w.file(origin, 2); err != nil {
			return err
		}
		time.Sleep(time.Second / 5)
	}
	if err := arm(origin, nil, 1); err != nil {
		return err
	}
	filed := map[string]bool{}
	for id := range w.published {
		filed[id] = true
	}
	share := 0.0
	for begin := time.Now(); share < 1 && time.Since(begin) < 5*time.Minute; time.Sleep(time.Second) {
		if share, err = found(p.url, filed); err != nil {
			return err
		}
	}
	figure("hr.quarter.filings", float64(n), "filings")
	figure("hr.quarter.live", 100*share, "%")
	return nil
}

// arm replaces the faults of the simulator: at even turns the feed of HR fails, at
// odd ones there is no fault.
func arm(origin string, faults []string, turn int) error {
	order := func(method, body string) error {
		req, err := http.NewRequest(method, origin+"/_sim/fault", strings.NewReader(body))
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("the simulator answers %s to %s", resp.Status, body)
		}
		return nil
	}
	if err := order(http.MethodDelete, ""); err != nil || turn%2 == 1 {
		return err
	}
	return order(http.MethodPost, fmt.Sprintf(`{"kind":%q,"surface":"feed","type":"hr","by":"5s"}`, faults[turn/2]))
}

// simulatedHR returns the ids of the HR that the simulator has.
func simulatedHR(origin, query string) (map[string]bool, error) {
	resp, err := http.Get(origin + "/_sim/filings?type=hr" + query)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	out := map[string]bool{}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var f struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return nil, err
		}
		out[f.ID] = true
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the simulator has no HR: %s", resp.Status)
	}
	return out, lines.Err()
}

// found returns the share of reports that are served.
func found(url string, ids map[string]bool) (float64, error) {
	n := 0
	for id := range ids {
		resp, err := http.Get(url + "/api/v1/reports/" + id)
		if err != nil {
			return 0, err
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			n++
		}
	}
	return float64(n) / float64(len(ids)), nil
}
