package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// dated returns reports that state dates in December 2030: a dividend, a meeting with two
// calls, and of another issuer a dividend that was cancelled.
func dated(s *service) []disclosure.Report {
	dividend := stated(s, 701, []disclosure.Fact{newFact(disclosure.Dividend,
		"gross_per_share", "0.25", "currency", "EUR", "ex_date", "2030-12-16", "payment_date", "2030-12-18")})
	meeting := stated(s, 702, []disclosure.Fact{newFact(disclosure.Meeting,
		"meeting_kind", "ordinary", "first_call", "2030-12-19T12:30", "second_call", "2030-12-20T12:30")})
	wrong := stated(s, 703, []disclosure.Fact{newFact(disclosure.Dividend, "ex_date", "2030-12-23")})
	wrong.NIF = "A69000016"
	wrong.CompanyName = "BODEGAS DE VALDEBRISA, S.A."
	wrong.CorrectedBy = "oir-704"
	right := stated(s, 704, []disclosure.Fact{newFact(disclosure.Board, "action", "appointed", "person", "Ana Arce")})
	right.NIF = wrong.NIF
	right.CompanyName = wrong.CompanyName
	right.PublishedAt = right.PublishedAt.Add(time.Hour)
	return []disclosure.Report{dividend, meeting, wrong, right}
}

func TestCalendarMonth(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	s.append(store.Batch{Reports: dated(s)})
	w := s.get(http.StatusOK, "/calendar?month=2030-12")
	has(t, w, "diciembre de 2030</h2>", `<th scope="col"><abbr title="lunes">lun</abbr></th>`, "5 fechas",
		`<td><time datetime="2030-12-16"><span class="number">16</span><span class="full">lunes, 16 de diciembre de 2030</span></time>`,
		`<a href="/reports/oir-701" title="Aceros de Navalbruma, S.A.: fecha ex-dividendo (0,25 €)"><span class="event">Ex-dividendo</span> Aceros de Navalbruma, S.A.</a>`,
		`12:30 <span class="event">Junta</span>`, `<span class="tentative">por confirmar</span>`,
		`<a href="/reports/oir-704" title="Bodegas de Valdebrisa, S.A.: fecha ex-dividendo"><s><span class="event">Ex-dividendo</span> Bodegas de Valdebrisa, S.A.</s></a> <span class="corrected">cancelada</span>`,
		`href="/calendar?month=2030-11" rel="prev"`, `aria-current="page">Calendario</a>`,
		`href="webcal://pregon.example/api/v1/calendar.ics?language=es"`, "https://pregon.example/api/v1/calendar.ics?language=es")
	lacks(t, w.Body.String(), `rel="next"`, "ZgotmplZ", "%!", "No hay fechas")
	body := w.Body.String()
	if weeks := strings.Count(body, "<tr>"); weeks != 7 { // December 2030 begins on a Sunday
		t.Errorf("the month has %d rows", weeks)
	}
	if days := strings.Count(body, `class="number"`); days != 31 {
		t.Errorf("the month has %d days", days)
	}
	has(t, s.get(http.StatusOK, "/calendar?month=2030-12&lang=en"), "December 2030</h2>", "5 dates", `<span class="event">Ex-date</span>`,
		`href="/reports/oir-701?lang=en"`, "tentative</span>", "cancelled</span>", `href="/calendar?lang=en&amp;month=2030-11"`, "calendar.ics?language=en")
	s.get(http.StatusNotModified, "/calendar?month=2030-12", "If-None-Match", w.Header().Get("ETag"))
}

func TestCalendarToday(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	today := disclosure.DayOf(time.Now()).String()
	s.append(store.Batch{Reports: []disclosure.Report{stated(s, 701, []disclosure.Fact{newFact(disclosure.Dividend, "ex_date", today)})}})
	has(t, s.get(http.StatusOK, "/calendar"), `<td class="current"><time datetime="`+today+`" aria-current="date">`)
	has(t, s.get(http.StatusOK, "/calendar?view=list"), "hoy · ", `<time datetime="`+today+`">`)
}

func TestCalendarList(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	s.append(store.Batch{Reports: dated(s)})
	w := s.get(http.StatusOK, "/calendar?month=2030-12&view=list")
	has(t, w, `<time datetime="2030-12-16">lunes, 16 de diciembre de 2030</time>`, "Aceros de Navalbruma, S.A.: fecha ex-dividendo (0,25 €)</a>",
		`<p class="muted small">Dividendo bruto de 0,25 euros por acción`, "<s>Bodegas de Valdebrisa, S.A.: fecha ex-dividendo</s>")
	lacks(t, w.Body.String(), "<table", "por acción; fecha ex-dividendo el 16 de diciembre de 2030.</p>")
	has(t, s.get(http.StatusOK, "/calendar?month=2030-12&view=list&page=9"), "La lista termina antes de esta página")
	w = s.get(http.StatusOK, "/calendar?day=2030-12-18")
	has(t, w, "miércoles, 18 de diciembre de 2030</h2>", "pago del dividendo", "1 fecha ")
	lacks(t, w.Body.String(), "junta general ordinaria")
}

// A filter selects entries, and the address to subscribe to has it too.
func TestCalendarFilter(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	s.append(store.Batch{Reports: dated(s)})
	w := s.get(http.StatusOK, "/calendar?month=2030-12&issuer=ANB&kind=payment")
	has(t, w, "1 fecha ", `<option value="payment" selected>Pago</option>`, `name="issuer" type="search" size="26" value="ANB"`, `<input type="hidden" name="month" value="2030-12">`,
		"Emisor: Aceros de Navalbruma, S.A.", `href="/calendar?kind=payment&amp;month=2030-12"`, `href="webcal://pregon.example/api/v1/calendar.ics?issuer=A69000024&amp;kind=payment&amp;language=es"`)
	lacks(t, w.Body.String(), "BODEGAS", "oir-702")
	w = s.get(http.StatusOK, "/calendar?month=2030-12&sector=metal&market=growth")
	has(t, w, "4 fechas", "Sector: metal", `href="webcal://pregon.example/api/v1/calendar.ics?language=es&amp;market=growth&amp;sector=metal"`,
		`<input type="hidden" name="market" value="growth">`, "Aceros de Navalbruma")
	lacks(t, w.Body.String(), "BODEGAS")
	has(t, s.get(http.StatusBadRequest, "/calendar?sector=zzz"), "zzz")
	has(t, s.get(http.StatusBadRequest, "/calendar?issuer=nobody-of-that-name"), "nobody-of-that-name")
	for query, want := range map[string]string{
		"kind=dividend":         "No existe el tipo de fecha «dividend». Quizá buscaba:",
		"month=2030-13":         "debe ser un mes",
		"month=december":        "debe ser un mes",
		"month=1899-12":         "debe ser un mes",
		"view=week":             "debe ser month o list",
		"kind=zzzz":             "debe ser ex_date",
		"day=yesterday":         "day",
		"page=0":                "page",
		"month=%3Cscript%3E":    "debe ser un mes",
		"month=2030-12-01T0000": "debe ser un mes",
	} {
		has(t, s.get(http.StatusBadRequest, "/calendar?"+query), want)
	}
}

// An empty month says so, and leads to the next date. Months have an end on both sides.
func TestCalendarEmpty(t *testing.T) {
	t.Parallel()
	empty := start(t, "", querytest.Market())
	w := empty.get(http.StatusOK, "/calendar")
	has(t, w, "No hay fechas en este mes.")
	lacks(t, w.Body.String(), `rel="prev"`, `rel="next"`, "La próxima", "noindex")
	has(t, empty.get(http.StatusOK, "/calendar?day=2030-12-18"), "No hay fechas en este día.")
	s := start(t, "", querytest.Market()) // a calendar is kept for a second, also when reports are added
	s.append(store.Batch{Reports: dated(s)})
	w = s.get(http.StatusOK, "/calendar?month=2030-11")
	has(t, w, "No hay fechas en este mes.", `La próxima: <a href="/calendar?month=2030-12">lunes, 16 de diciembre de 2030</a>`, `rel="next"`, "noindex")
	w = s.get(http.StatusOK, "/calendar?month=9999-12")
	has(t, w, "No hay fechas en este mes.")
	lacks(t, w.Body.String(), `rel="next"`)
}

// A day of the month has eight entries at most, and a list has pages.
func TestCalendarBounds(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	var facts []disclosure.Fact
	for range 205 {
		facts = append(facts, newFact(disclosure.Dividend, "ex_date", "2030-12-16"))
	}
	s.append(store.Batch{Reports: []disclosure.Report{
		stated(s, 701, facts),
		stated(s, 702, func() (out []disclosure.Fact) {
			for range 8 {
				out = append(out, newFact(disclosure.Dividend, "ex_date", "2030-12-17"))
			}
			return out
		}()),
	}})
	w := s.get(http.StatusOK, "/calendar?month=2030-12")
	has(t, w, `<a class="more" href="/calendar?day=2030-12-16">+197<span class="unseen"> más, lunes, 16 de diciembre de 2030</span></a>`)
	if got := strings.Count(w.Body.String(), `class="event"`); got != 16 {
		t.Errorf("the month has %d entries", got)
	}
	if got := strings.Count(w.Body.String(), `class="more"`); got != 1 {
		t.Errorf("%d days have more entries", got)
	}
	for page, want := range map[int]int{1: 200, 2: 5} {
		body := s.get(http.StatusOK, fmt.Sprintf("/calendar?day=2030-12-16&page=%d", page)).Body.String()
		if got := strings.Count(body, `href="/reports/oir-701"`); got != want {
			t.Errorf("page %d has %d entries, want %d", page, got, want)
		}
	}
	has(t, s.get(http.StatusOK, "/calendar?day=2030-12-16"), `href="/calendar?day=2030-12-16&amp;page=2" rel="next"`)
}

// The page of an issuer has its next dates and leads to its calendar.
func TestIssuerDates(t *testing.T) {
	t.Parallel()
	without := start(t, "", querytest.Market())
	lacks(t, without.get(http.StatusOK, "/issuers/A69000024").Body.String(), "Próximas fechas")
	s := start(t, "", querytest.Market()) // a calendar is kept for a second, also when reports are added
	var facts []disclosure.Fact
	today := disclosure.DayOf(time.Now())
	for i := range 9 {
		facts = append(facts, newFact(disclosure.Dividend, "payment_date", (today+disclosure.Day(i-2)).String()))
	}
	s.append(store.Batch{Reports: append(dated(s)[1:], stated(s, 701, facts))})
	w := s.get(http.StatusOK, "/issuers/A69000024?lang=en")
	has(t, w, "Next dates", `href="/calendar?issuer=A69000024&amp;lang=en"`, `<time datetime="`+today.String()+`">`, `title="Aceros de Navalbruma, S.A.: dividend payment">Payment</a>`)
	lacks(t, w.Body.String(), `<time datetime="`+(today-1).String(), `<time datetime="`+(today+5).String())
	lacks(t, s.get(http.StatusOK, "/issuers/A69000016").Body.String(), "Próximas fechas") // its only one is cancelled
}

// Names of issuers in the calendar are not markup.
func TestHostileCalendar(t *testing.T) {
	t.Parallel()
	s := start(t, "demo", hostileMarket())
	r := stated(s, 701, []disclosure.Fact{newFact(disclosure.Dividend, "ex_date", "2030-12-16")})
	r.NIF = `A"><b>`
	r.CompanyName = hostile
	s.append(store.Batch{Reports: []disclosure.Report{r}})
	for _, query := range []string{"month=2030-12", "month=2030-12&view=list", "day=2030-12-16", "month=2030-12&issuer=code-1&lang=en"} {
		w := s.get(http.StatusOK, "/calendar?"+query)
		has(t, w, "&lt;script&gt;alert", "/reports/oir-701")
		lacks(t, w.Body.String(), "<script>alert", "<img", "<b>", `"javascript:`, "ZgotmplZ", "%!")
	}
}
