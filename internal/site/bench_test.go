package site_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// The time to render pages, which readers with a credential always need.
func BenchmarkPages(b *testing.B) {
	s := start(b, "", querytest.Market())
	for name, target := range map[string]string{"feed": "/", "report": "/reports/oir-40374", "live": "/live"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, target, nil)
				r.Header.Set("Accept", "text/html")
				r.Header.Set("Authorization", "Bearer read:reports")
				s.mux.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
}

// The time to render the dossier of an issuer with ten years of history: some 8,000 short
// positions of 40 holders, 2,000 holdings and 500 notices of dealings.
func BenchmarkDossier(b *testing.B) {
	s := start(b, "", querytest.Market())
	s.append(decade())
	for b.Loop() {
		r := httptest.NewRequest(http.MethodGet, "/issuers/A69000016", nil)
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Authorization", "Bearer read:issuers+read:reports")
		w := httptest.NewRecorder()
		s.mux.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}

// decade returns ten years of positions of the first issuer of the market.
func decade() (b store.Batch) {
	const years = 10
	first := disclosure.DayOf(time.Now().AddDate(-years, 0, 0))
	for n := range 200 * years {
		day := (first + disclosure.Day(n*365*years/(200*years))).String()
		state := disclosure.StatePast
		if n >= 200*years-10 {
			state = disclosure.StateCurrent
		}
		for i := range 4 {
			name := fmt.Sprintf("Fondo Imaginario %d LLP", (4*n+i)%40)
			b.Positions = append(b.Positions, querytest.Short(querytest.ISIN, name, day, fmt.Sprintf("0.%d", 50+n%40), state, i+1))
		}
		number := fmt.Sprint(2016000000 + n)
		name := fmt.Sprintf("CARTERA IMAGINARIA %d, S.L.", n%20)
		b.Positions = append(b.Positions, querytest.Holding(number, name, day, fmt.Sprintf("%d.%d", 3+n%9, n%1000), state))
		if n%4 == 0 {
			dealing := querytest.Dealing(number, "Elena Ruiz Salvatierra", day, disclosure.StateCurrent,
				querytest.Trade("Compra", disclosure.Buy, "1000", "2.5", "EUR"),
				querytest.Trade("Venta", disclosure.Sell, "500", "2.6", "EUR"))
			for i := range dealing.Trades {
				dealing.Trades[i].Date = day
			}
			b.Positions = append(b.Positions, dealing)
		}
	}
	return b
}
