package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/regulator"
)

// Two years of history. They are in the past, so that every run reads the same.
const (
	historyFrom = "2024-01-01"
	historyTo   = "2025-12-31"
)

// history compares a back-fill without throttling with a reader that requests the
// same pages one after another and discards them.
func (b *bench) history(origin string) error {
	pages, err := historyPages(origin) // also warms the simulator up
	if err != nil {
		return err
	}
	var rates, ratios, bares []float64
	for range 3 {
		bare, err := readBare(pages)
		if err != nil {
			return err
		}
		loaded, took, err := b.backfill(origin)
		if err != nil {
			return err
		}
		rates = append(rates, float64(loaded)/took.Seconds())
		bares = append(bares, float64(len(pages))/bare.Seconds())
		ratios = append(ratios, bare.Seconds()/took.Seconds())
	}
	figure("backfill.rate", median(rates), "filings/s")
	figure("bare.reader.rate", median(bares), "pages/s")
	figure("backfill.vs_bare", median(ratios), "ratio")
	return nil
}

// backfill loads the history into a new store and returns the number of reports.
func (b *bench) backfill(origin string) (int, time.Duration, error) {
	path, err := b.scratch("backfill.db")
	if err != nil {
		return 0, 0, err
	}
	defer b.scratch("backfill.db")
	cmd := exec.Command(
		b.program, "backfill", "--from", historyFrom, "--to", historyTo, "--type", "ip,oir", "--pace", "0",
		"--regulator-url", origin, "--exchange-url", origin, "--store", "sqlite:"+path,
	)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, log.Bytes())
	}
	took := time.Since(start)
	var loaded int
	if _, err := fmt.Sscanf(out.String(), "%d new", &loaded); err != nil || loaded == 0 {
		return 0, 0, fmt.Errorf("the back-fill loaded nothing: %s", out.Bytes())
	}
	return loaded, took, nil
}

// historyPages returns the addresses of the pages that a back-fill reads: of
// seven days at once, the newest first.
func historyPages(origin string) ([]string, error) {
	from, _ := disclosure.ParseDay(historyFrom)
	to, _ := disclosure.ParseDay(historyTo)
	var out []string
	for _, list := range []struct {
		series disclosure.Type
		path   string
	}{
		{disclosure.IP, "/portal/informacion-privilegiada/resultado-ip"},
		{disclosure.OIR, "/portal/otra-informacion-relevante/resultado-oir"},
	} {
		const slashed = "02/01/2006"
		for last := to; last >= from; last -= 7 {
			days := "?fechaDesde=" + max(from, last-6).Start().Format(slashed) + "&fechaHasta=" + last.Start().Format(slashed)
			for page, pages := 0, 1; page < pages; page++ {
				address := fmt.Sprintf("%s%s%s&page=%d", origin, list.path, days, page)
				var body bytes.Buffer
				if err := fetch(address, &body); err != nil {
					return nil, err
				}
				read, err := regulator.ParseList(list.series, body.Bytes(), origin)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", address, err)
				}
				pages = read.Pages
				out = append(out, address)
			}
		}
	}
	fmt.Fprintf(os.Stderr, "# %d pages of history\n", len(out))
	return out, nil
}

func readBare(pages []string) (time.Duration, error) {
	start := time.Now()
	for _, address := range pages {
		if err := fetch(address, io.Discard); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

func fetch(address string, into io.Writer) error {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "*/*") // without it the regulator answers 500
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: got status %s", address, resp.Status)
	}
	_, err = io.Copy(into, resp.Body)
	return err
}
