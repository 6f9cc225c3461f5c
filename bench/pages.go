package main

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// pages compares the pages of the site with a bare handler that writes as many
// bytes: the front page, one report as when its link is shared, ten thousand reports
// in turn, of which the cache holds a part, and the fragment that open pages poll,
// unchanged.
func (b *bench) pages() error {
	p, err := b.serveMarket(whole)
	if err != nil {
		return err
	}
	defer p.stop()
	ids, err := reportIDs(p.url)
	if err != nil {
		return err
	}
	const browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	reports := make([][]byte, len(ids))
	for i, id := range ids {
		reports[i] = request("/reports/"+id, browser)
	}
	tag, err := entityTag(p.url + "/live")
	if err != nil {
		return err
	}
	for _, kind := range []struct {
		name     string
		requests [][]byte
	}{
		{"page.vs_bare", [][]byte{request("/", browser)}},
		{"page.report.vs_bare", reports[:1]},
		{"page.reports.vs_bare", reports},
		{"page.live.vs_bare", [][]byte{request("/live", browser, "If-None-Match: "+tag)}},
	} {
		if err := versusBare(p, kind.name, kind.requests); err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
	}
	var costs []float64
	for range rounds {
		_, cost, err := p.rateAndCost(reports)
		if err != nil {
			return err
		}
		costs = append(costs, 1e6*cost)
	}
	figure("page.reports.processor", median(costs), "us")
	return nil
}

// reportIDs returns the ids of reports from all of the market.
func reportIDs(url string) (ids []string, err error) {
	for page := 1; page <= 7000; page += 35 {
		response, err := http.Get(fmt.Sprintf("%s/api/v1/reports?limit=50&page=%d", url, page))
		if err != nil {
			return nil, err
		}
		var list struct{ Data []struct{ ID string } }
		err = json.NewDecoder(response.Body).Decode(&list)
		response.Body.Close()
		if err != nil {
			return nil, err
		}
		for _, r := range list.Data {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}

// entityTag returns the tag of an address.
func entityTag(url string) (string, error) {
	response, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	return response.Header.Get("ETag"), nil
}
