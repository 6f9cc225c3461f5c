package exchange_test

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/source/exchange"
)

const isin = "ES01SIM00014"

const details = `{"name":"ALMAZARA FICTICIA, S.A.","isin":"` + isin + `","ticker":"ALMZ"}`

func TestOrigin(t *testing.T) {
	for origin, ok := range map[string]bool{
		"https://exchange.example":       true,
		"http://127.0.0.1:8080/":         true,
		"http://[::1]:8080":              true,
		"":                               false,
		"exchange.example":               false,
		"ftp://exchange.example":         false,
		"http://":                        false,
		"http://:80":                     false,
		"https://exchange.example/v1":    false,
		"https://exchange.example?a=b":   false,
		"https://exchange.example#a":     false,
		"https://me:me@exchange.example": false,
		"http://%zz":                     false,
	} {
		_, err := exchange.New(exchange.Options{Origin: origin})
		if ok && err != nil {
			t.Errorf("%q: %v", origin, err)
		}
		if !ok {
			wantKind(t, err, fault.Invalid)
		}
	}
}

func TestRequest(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for name, want := range map[string]string{
			"User-Agent": "pregon-test", "Accept": "application/json", "Accept-Language": "es",
			"Referer": "https://www.bolsasymercados.es/",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if want := "/Market/v1/EQ/ShareDetailsInfo?isin=" + isin + "&language=es"; r.URL.String() != want {
			t.Errorf("asked %s, want %s", r.URL, want)
		}
		fmt.Fprint(w, details)
	})
	if got, err := c.Ticker(t.Context(), " es01sim00014 "); err != nil || got != "ALMZ" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestStatus(t *testing.T) {
	for status, want := range map[int]fault.Kind{
		204: fault.Unavailable, 304: fault.Unavailable, 400: fault.Unavailable, 403: fault.RateLimited,
		404: fault.NotFound, 429: fault.RateLimited, 500: fault.Unavailable, 503: fault.Unavailable,
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, err := c.Ticker(t.Context(), isin)
		wantKind(t, err, want)
	}
}

func TestBrokenOff(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, details)
	})
	_, err := c.Ticker(t.Context(), isin)
	wantKind(t, err, fault.Unavailable)
}

func TestByteOrderMark(t *testing.T) {
	if got, err := serve(t, say("\ufeff"+details)).Ticker(t.Context(), isin); err != nil || got != "ALMZ" {
		t.Errorf("%q, %v", got, err)
	}
}

// A short body can be long after decompression.
func TestLongBody(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		fmt.Fprint(z, details, strings.Repeat(" ", 16<<20+1-len(details)))
	})
	_, err := c.Ticker(t.Context(), isin)
	wantKind(t, err, fault.Unavailable)
}

func TestRedirects(t *testing.T) {
	for _, test := range []struct {
		name   string
		times  int
		target string // the same path when empty
		ok     bool
		asked  int
	}{
		{"three", 3, "", true, 4},
		{"four", 4, "", false, 4},
		{"another host", 1, "http://elsewhere.example/", false, 1},
		{"another port", 1, "http://127.0.0.1:1/", false, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := 0
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked++
				if got := r.Header.Get("Referer"); got != "https://www.bolsasymercados.es/" {
					t.Errorf("referer %q", got)
				}
				switch {
				case asked > test.times:
					fmt.Fprint(w, details)
				case test.target != "":
					http.Redirect(w, r, test.target, http.StatusFound)
				default:
					http.Redirect(w, r, r.URL.String(), http.StatusFound)
				}
			})
			_, err := c.Ticker(t.Context(), isin)
			if test.ok && err != nil {
				t.Error(err)
			}
			if !test.ok {
				wantKind(t, err, fault.Unavailable)
			}
			if asked != test.asked {
				t.Errorf("asked %d times, want %d", asked, test.asked)
			}
		})
	}
}

// A redirect may go from http to https but not back.
func TestRedirectedScheme(t *testing.T) {
	for from, ok := range map[string]bool{"http": true, "https": false} {
		to := map[string]string{"http": "https", "https": "http"}[from]
		c := client(t, exchange.Options{Origin: from + "://exchange.example", Transport: transport(func(r *http.Request) (*http.Response, error) {
			if r.URL.Scheme == to {
				return answer(http.StatusOK, details), nil
			}
			res := answer(http.StatusFound, "")
			res.Header.Set("Location", to+"://exchange.example/")
			return res, nil
		})})
		if _, err := c.Ticker(t.Context(), isin); (err == nil) != ok {
			t.Errorf("from %s: %v", from, err)
		}
	}
}
