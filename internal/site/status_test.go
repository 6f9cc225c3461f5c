package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/store"
)

func (s *service) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// reported serves a market of today with a state of the source.
func reported(t *testing.T, status health.Status, incidents ...coverage.Incident) *service {
	t.Helper()
	now := time.Now().Truncate(time.Second)
	var b store.Batch
	for _, n := range []int64{1, 2, 4} {
		r := querytest.Report(disclosure.OIR, n, now.Format(time.RFC3339))
		r.FirstSeenAt, r.AvailableAt = now, now.Add(1500*time.Millisecond)
		b.Reports = append(b.Reports, r)
	}
	s := start(t, "", b)
	today := disclosure.DayOf(now)
	for _, series := range []disclosure.Type{disclosure.IP, disclosure.OIR} {
		s.must(s.coverage.Cover(t.Context(), nil, series, today-1, today, now))
	}
	status.At = now
	s.must(s.coverage.SetStatus(t.Context(), nil, status))
	s.must(s.coverage.SetIncidents(t.Context(), nil, incidents))
	_, err := s.coverage.Request(t.Context(), coverage.NewNumbersJob(disclosure.HR, 100, 200, today-9, today))
	s.must(err)
	return s
}

func TestStatus(t *testing.T) {
	t.Parallel()
	at := querytest.Instant("2026-04-22T08:00:33Z")
	s := reported(t, health.Status{
		State: health.Degraded, Since: at, Reasons: []health.Reason{
			{Surface: "feed-oir", Code: health.Failed, Params: health.Params{Detail: "HTTP status 500"}, Since: at},
			{Surface: "list-ip", Code: health.Overdue, Since: at},
		},
		Surfaces: []health.Surface{{Name: "feed-oir", Failures: 3, Error: "HTTP status 500"}, {Name: "feed-ip", OK: true, SuccessAt: time.Now()}, {Name: "list-ip", Stale: true}},
	}, coverage.Incident{State: health.Degraded, Since: at}, coverage.Incident{State: health.Blind, Since: at.Add(-time.Hour), Until: at.Add(-time.Hour).Add(90 * time.Second), Reasons: []health.Reason{
		{Surface: "service", Code: health.NobodyRead, Since: at},
	}})
	today := disclosure.DayOf(time.Now())
	has(t, s.get(http.StatusOK, "/status"),
		"Funciona con limitaciones", "desde el 22 de abril de 2026, 10:00:33 CEST", "Canal de otra información relevante", `<span lang="en">HTTP status 500</span>`,
		"No se ha leído desde hace un rato", `<td class="surface-failing">falla`, `<td class="surface-ok">correcta`, `<td class="surface-stale">incompleta`,
		"3 comunicaciones, el día no ha terminado, falta 1 número", ": 0 comunicaciones, comprobado", "todavía no está demostrado que no falte ninguna", "no falta ninguna comunicación desde el", "Números de registro que faltan", ">oir-4<",
		"HR 100-200", `<li class="state-blind">`, "90 s", "Ningún proceso leía la fuente", "· en curso")
	has(t, s.get(http.StatusOK, "/status?lang=en"),
		"Degraded", "since 22 April 2026, 10:00:33 CEST", "Feed of other relevant information", "not checked", "3 disclosures, the day has not ended, 1 missing number",
		"Median", `<li class="state-degraded">`, fmt.Sprint(today.Start().Day()))
}

// Every state of the source has its words.
func TestStatusStates(t *testing.T) {
	t.Parallel()
	for state, want := range map[health.State]string{
		health.Live: "Todo funciona", health.Quiet: "No se ha publicado nada", health.Degraded: "limitaciones", health.Starting: "acaba de empezar", health.Blind: "no se puede leer", health.Off: "sin actualización",
	} {
		s := start(t, "", store.Batch{})
		if state != health.Off {
			s.must(s.coverage.SetStatus(t.Context(), nil, health.Status{State: state, Since: time.Now(), At: time.Now()}))
		}
		has(t, s.get(http.StatusOK, "/status"), want, "Ninguna registrada", `class="now state-`+string(state)+`"`)
	}
	var all []health.Surface
	for _, name := range health.Surfaces {
		all = append(all, health.Surface{Name: name, OK: true})
	}
	body := reported(t, health.Status{State: health.Live, Surfaces: all}).get(http.StatusOK, "/status").Body.String()
	for _, name := range health.Surfaces {
		if strings.Contains(body, ">"+name+"<") {
			t.Errorf("the surface %s has no name", name)
		}
	}
}

// Reasons that the monitor words are shown in Spanish.
func TestStatusReasons(t *testing.T) {
	t.Parallel()
	m := health.NewMonitor(time.Minute)
	status, _ := m.Status()
	s := reported(t, status)
	if body := s.get(http.StatusOK, "/status").Body.String(); strings.Contains(body, "was not read") || !strings.Contains(body, "Aún no se ha leído.") {
		t.Errorf("reasons %v are in English", status.Reasons)
	}
}

// Texts of the source are never markup.
func TestHostileStatus(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	reasons := []health.Reason{{Surface: hostile, Code: health.Failed, Params: health.Params{Detail: hostile + long}, Since: time.Now()}}
	s := reported(t, health.Status{State: health.Blind, Since: time.Now(), Reasons: reasons, Surfaces: []health.Surface{{Name: hostile, Error: hostile + long}}},
		coverage.Incident{State: health.Blind, Since: time.Now(), Reasons: reasons})
	job := coverage.NewNumbersJob(disclosure.OIR, 1, 2, 20000, 20001)
	job.Trouble = hostile
	s.must(s.coverage.SetJob(t.Context(), nil, job))
	for _, target := range []string{"/status", "/status?lang=en"} {
		body := s.get(http.StatusOK, target).Body.String()
		for _, bad := range []string{"<script>alert", "<img", "ZgotmplZ", "%!"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s has %q", target, bad)
			}
		}
		if strings.Count(body, "&lt;script&gt;alert(1)") < 6 {
			t.Errorf("%s does not show every text", target)
		}
	}
}
