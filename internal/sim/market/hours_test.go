package market_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
)

func TestRhythmOfTheWeek(t *testing.T) {
	n := map[disclosure.Type][2]int{} // working days, weekend
	for _, r := range whole() {
		day, c := disclosure.DayOf(r.PublishedAt).Weekday(), n[r.Type]
		if day == time.Saturday || day == time.Sunday {
			c[1]++
		} else {
			c[0]++
		}
		n[r.Type] = c
	}
	weeks := today.Sub(whole()[0].PublishedAt).Hours() / 24 / 7
	for series, want := range map[disclosure.Type]float64{disclosure.OIR: 24, disclosure.IP: 1.8, disclosure.HR: 4} {
		got, weekend := float64(n[series][0])/weeks/5, float64(n[series][1])/weeks/2
		if got < want*0.9 || got > want*1.15 {
			t.Errorf("%s: %.2f in a working day, want about %v", series, got, want)
		}
		if weekend > want/8 {
			t.Errorf("%s: %.2f in a day of the weekend", series, weekend)
		}
	}
}

func TestRhythmOfTheDay(t *testing.T) {
	all, morning, evening, hours := 0, 0, 0, map[int]bool{}
	for _, r := range whole() {
		at := r.PublishedAt.In(disclosure.Madrid)
		hours[at.Hour()] = true
		if r.Type == disclosure.HR {
			continue
		}
		all++
		switch minute := at.Hour()*60 + at.Minute(); {
		case minute >= 7*60 && minute < 9*60+30:
			morning++
		case minute >= 17*60+30 && minute < 19*60:
			evening++
		}
	}
	if 100*morning/all < 28 || 100*evening/all < 16 {
		t.Errorf("of %d reports %d come before the opening and %d after the close", all, morning, evening)
	}
	if len(hours) != 24 {
		t.Errorf("there are reports in %d hours of the day", len(hours))
	}
}

func TestRhythmOfTheYear(t *testing.T) {
	days := map[string]int{}
	for _, r := range whole() {
		days[r.PublishedAt.In(disclosure.Madrid).Format("2006-01-02")]++
	}
	for _, peak := range []string{"2026-02-26", "2026-02-27", "2026-07-31", "2025-02-28", "2024-02-29"} {
		if days[peak] < 100 || days[peak] > 300 {
			t.Errorf("%s has only %d reports", peak, days[peak])
		}
	}
	for _, quiet := range []string{"2026-04-03", "2026-04-06", "2025-12-25", "2026-01-01"} {
		if days[quiet] > 10 {
			t.Errorf("the holiday %s has %d reports", quiet, days[quiet])
		}
	}
	all := whole()
	for n := range all { // any 45 days from a report on
		end := all[n].PublishedAt.AddDate(0, 0, 45)
		if end.After(today) {
			break
		}
		if all[n+299].PublishedAt.After(end) {
			t.Fatalf("fewer than 300 reports in the 45 days from %v", all[n].PublishedAt)
		}
	}
}

func TestWhoFilesAndAboutWhat(t *testing.T) {
	all, trusts, shares := 0, 0, 0
	for _, r := range whole() {
		if r.Type != disclosure.OIR {
			continue
		}
		all++
		if strings.Contains(fold(r.CompanyName), "FONDO DE TITULIZACION") {
			trusts++
		}
		if strings.HasPrefix(r.Category, "Programas de recompra") || strings.HasPrefix(r.Category, "Contratos de liquidez") {
			shares++
		}
	}
	if p := 100 * float64(trusts) / float64(all); p < 22 || p > 26 {
		t.Errorf("securitisation funds file %.1f %%", p)
	}
	if p := 100 * float64(shares) / float64(all); p < 15.5 || p > 18.5 {
		t.Errorf("own shares are %.1f %%", p)
	}
}

func TestBursts(t *testing.T) {
	last := map[string]time.Time{}
	bursts, all := 0, whole()
	for _, r := range all {
		name := fold(r.CompanyName)
		if gap := r.PublishedAt.Sub(last[name]); gap >= time.Minute && gap <= 3*time.Minute {
			bursts++
		}
		last[name] = r.PublishedAt
	}
	if p := 100 * bursts / len(all); p < 8 || p > 30 {
		t.Errorf("%d %% of the reports follow another of the same issuer", p)
	}
	busiest := map[string]int{}
	for _, r := range all {
		busiest[r.CompanyName]++
	}
	if len(busiest) < 400 {
		t.Errorf("only %d names file", len(busiest))
	}
	counts := make([]int, 0, len(busiest))
	for _, n := range busiest {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	if top, middle := counts[len(counts)-1], counts[len(counts)/2]; top < 3*middle {
		t.Errorf("the busiest issuer files %d, the middle one %d: all are alike", top, middle)
	}
}
