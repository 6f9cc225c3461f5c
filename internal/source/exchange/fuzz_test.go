package exchange

import (
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

func FuzzPage(f *testing.F) {
	f.Add([]byte(`{"totalResults":"2","hasMoreResults":true,"data":[{},null]}`))
	f.Add([]byte(`{"data":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := parsePage(body)
		if err != nil {
			if fault.KindOf(err) != fault.Unavailable {
				t.Error(err)
			}
			return
		}
		if p.total < unknown {
			t.Errorf("%d rows in all", p.total)
		}
		r := listReader{total: unknown, seen: map[string]bool{}}
		done, err := r.add(p)
		if done && (err != nil || p.more || (p.total != unknown && len(r.rows) != p.total)) {
			t.Errorf("%d rows are taken for all of %+v, %v", len(r.rows), p, err)
		}
		if done, err = r.add(p); len(p.rows) > 0 && err == nil {
			t.Errorf("the same page again: %v", done)
		}
	})
}

func FuzzShare(f *testing.F) {
	f.Add([]byte(`{"name":"ALMAZARA FICTICIA, S.A.","companyKey":90001,"isin":"ES01SIM00014","tradingSystem":"SIBE","country":null}`))
	f.Add([]byte(`{"isin":" es01sim00022","tradingSystem":"MTF","mtfSegment":"BMEGrowth"}`))
	f.Fuzz(func(t *testing.T, row []byte) {
		s, ok := parseShare(row)
		if !ok {
			return
		}
		if !disclosure.IsISIN(s.ISIN) || s.Market() == "" {
			t.Errorf("%+v", s)
		}
		for _, value := range []string{s.CompanyKey, s.Name, s.ShareName, s.System, s.Segment, s.Country} {
			if value != strings.TrimSpace(value) || strings.ContainsAny(value, "\x00\n") {
				t.Errorf("%q", value)
			}
		}
	})
}

func FuzzTicker(f *testing.F) {
	f.Add([]byte(`{"isin":"ES01SIM00014","ticker":"ALMZ"}`))
	f.Add([]byte(`{"ticker":480}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		ticker, err := parseTicker(body, "ES01SIM00014")
		if (ticker == "") != (err != nil) || (err == nil && !isTicker(ticker)) {
			t.Errorf("%q, %v", ticker, err)
		}
	})
}

func FuzzNIF(f *testing.F) {
	f.Add([]byte(`{"companyKey":"90001","data":[{"CIF":"A-00000000"}]}`))
	f.Add([]byte(`[{"nif":null},[[]]]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		nif, err := parseNIF(body, "90001")
		normal, ok := disclosure.ParseNIF(nif)
		if (nif == "") != (err != nil) || (err == nil && (!ok || string(normal) != nif)) {
			t.Errorf("%q, %v", nif, err)
		}
	})
}
