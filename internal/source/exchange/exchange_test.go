package exchange_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"pregon/internal/fault"
	"pregon/internal/source/exchange"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	almazara = `{"name":"ALMAZARA FICTICIA, S.A.","companyKey":"90001","isin":"ES01SIM00014","shareName":"ALMAZARA",
		"sector":"05","subsector":"01","tradingSystem":"SIBE","indices":"IGBM"}`
	noria   = `{"name":"NORIA INVENTADA, S.A.","companyKey":"90002","isin":"ES01SIM00022","shareName":"NORIA","tradingSystem":"MTF","mtfSegment":"BMEGrowth"}`
	telar   = `{"name":"TELAR SUPUESTO, S.A.","companyKey":"90003","isin":"ES01SIM00030","shareName":"TELAR","tradingSystem":"Floor"}`
	fundRow = `{"name":"HUCHA IMAGINARIA, SICAV, S.A.","companyKey":"90009","isin":"ES01SIM00097","tradingSystem":"MTF","mtfSegment":"SICAV"}`
)

// list returns an answer with all rows.
func list(rows ...string) string {
	return fmt.Sprintf(`{"yearOfPriceData":2026,"totalResults":%d,"params":{},"hasMoreResults":false,"data":[%s]}`,
		len(rows), strings.Join(rows, ","))
}

// serve returns a client of a server.
func serve(t *testing.T, handler http.HandlerFunc) *exchange.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return client(t, exchange.Options{Origin: server.URL, UserAgent: "pregon-test", Transport: server.Client().Transport})
}

func client(t *testing.T, o exchange.Options) *exchange.Client {
	t.Helper()
	c, err := exchange.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// say returns a handler that answers with a body.
func say(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

func wantKind(t *testing.T, err error, want fault.Kind) {
	t.Helper()
	if err == nil || fault.KindOf(err) != want {
		t.Errorf("error %v (%v), want %v", err, fault.KindOf(err), want)
	}
}
