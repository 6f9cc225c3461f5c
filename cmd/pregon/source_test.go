package main_test

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// TestSource reads reports of every kind, and is killed in the middle of a burst. In the
// end all of it is exact.
func TestSource(t *testing.T) {
	play(t, []part{
		{"live", (*reader).playLive},
		{"killed", (*reader).playKilled},
	})
}

// TestOddSource reads unusual reports, reports that appear late, and a source with faults.
func TestOddSource(t *testing.T) {
	longtest.Skip(t, "it waits for the source to recover from each fault")
	play(t, []part{
		{"odd", (*reader).playOdd},
		{"late", (*reader).playLate},
		{"faults", (*reader).playFaults},
	})
}

// part is a part of a test that reads a simulated source.
type part struct {
	name string
	play func(*reader, *testing.T)
}

// play plays the parts one after another, on each kind of store.
func play(t *testing.T, parts []part) {
	t.Helper()
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, startSource(t), newStore(t))
			r.start(t)
			for _, p := range parts {
				if !t.Run(p.name, func(t *testing.T) { p.play(r, t) }) {
					t.Logf("the log of serve:\n%s", r.serve.log.events())
				}
			}
			r.stop(t)
		})
	}
}

func (r *reader) playLive(t *testing.T) {
	bodies := []string{
		`{"type":"ip"}`, `{"type":"oir"}`, `{"type":"oir","title":"Añadido: «cita» & <b>marcado</b> &amp; 5 €"}`,
		`{"type":"oir","document":false}`, `{"type":"oir","document":true}`, `{"type":"ip","title":"Oferta pública – anuncio previo"}`,
		`{"type":"oir","category":"Sobre resultados - Sobre dividendos"}`,
	}
	var ids []string
	for n := range 30 {
		ids = append(ids, r.publish(t, "%s", bodies[n%len(bodies)]))
	}
	ids = append(ids, r.publish(t, `{"type":"hr"}`))
	r.waitListed(t, ids...)
	s := r.state(t, "live")
	if s.Source != "demo" || len(s.Reasons) > 0 {
		t.Errorf("the status is %+v", s)
	}
	for _, l := range s.Latest {
		if !slices.Contains(ids, l.ID) {
			t.Errorf("the latest %s is %s", l.Type, l.ID)
		}
	}
}

// playKilled kills serve in the middle of a burst. Reports published
// meanwhile are listed after the next start, each once.
func (r *reader) playKilled(t *testing.T) {
	var ids []string
	burst := func(n int) {
		for k := range n {
			ids = append(ids, r.publish(t, `{"type":%q}`, []string{"oir", "ip", "oir"}[k%3]))
		}
	}
	burst(10)
	eventually(t, func() error {
		if !slices.ContainsFunc(ids, func(id string) bool { return r.has(t, id) }) {
			return errors.New("no report of the burst is stored")
		}
		return nil
	})
	_ = r.serve.end(syscall.SIGKILL)
	burst(25)
	for range 5 {
		ids = append(ids, r.publish(t, `{"type":"hr"}`))
	}
	r.start(t)
	r.waitListed(t, ids...)
	today := disclosure.DayOf(time.Now())
	r.exact(t, today-7, today, disclosure.IP, disclosure.OIR)
}

// playOdd publishes unusual reports: without document, related, correcting, with a
// shared link.
func (r *reader) playOdd(t *testing.T) {
	first := r.publish(t, `{"type":"oir","title":"La primera"}`)
	number := first[len("oir-"):]
	ids := []string{
		first,
		r.publish(t, `{"type":"oir","document":false}`),
		r.publish(t, `{"type":"oir","related":%q}`, number),
		r.publish(t, `{"type":"oir","corrects":%q}`, number),
	}
	const shared = "../aldia/detalleifialdia.aspx?nReg=2026028165"
	for range 2 {
		ids = append(ids, r.publish(t, `{"type":"oir","link":%q}`, shared))
	}
	r.waitListed(t, ids...)
}

// playLate publishes reports that no feed shows, and one number twice.
func (r *reader) playLate(t *testing.T) {
	again := r.publish(t, `{"type":"oir","title":"Una"}`)
	r.waitListed(t, again)
	r.publish(t, `{"type":"oir","title":"Otra","number":%q}`, again[len("oir-"):])

	// At the close the feed drops the reports of the day, and may never have shown
	// the last ones. The lists have them, and those that were registered late.
	yesterday := (disclosure.DayOf(time.Now()) - 1).Start().Add(12*time.Hour + 34*time.Minute + 56*time.Second)
	late := r.publish(t, `{"type":"oir","published_at":%q}`, yesterday.Format(time.RFC3339))
	r.arm(t, `{"kind":"feedcut","surface":"feed","by":"1ms","for":"1h"}`)
	unseen := r.publish(t, `{"type":"oir"}`)
	r.waitListed(t, late, unseen)
	r.disarm(t)
	// A number that is used twice is one report, either of the two.
	eventually(t, func() error {
		list, err := listed(r.serve.url)
		if err == nil && list[again] != 1 {
			err = fmt.Errorf("%s is listed %d times, want 1", again, list[again])
		}
		return err
	})
}

// playFaults mixes faults while reports are published. The status becomes degraded or
// blind, and names the surface that fails.
func (r *reader) playFaults(t *testing.T) {
	for _, fault := range []string{
		`{"kind":"markup","surface":"feed","type":"ip","for":"1h"}`,
		`{"kind":"reset","surface":"feed","type":"oir","share":0.5,"for":"1h"}`,
		`{"kind":"stall","surface":"feed","type":"oir","share":0.3,"by":"700ms","for":"1h"}`,
		`{"kind":"error500","surface":"list","share":0.5,"for":"1h"}`,
		`{"kind":"truncate","surface":"permalink","share":0.5,"for":"1h"}`,
		`{"kind":"errorpage","surface":"permalink","share":0.3,"for":"1h"}`,
		`{"kind":"error403","surface":"all","share":0.1,"for":"1h"}`,
		`{"kind":"bomb","surface":"hr","share":0.5,"for":"1h"}`,
	} {
		r.arm(t, fault)
	}
	var ids []string
	for range 30 {
		ids = append(ids, r.publish(t, `{"type":%q}`, []string{"oir", "ip"}[len(ids)%2]))
		waittest.Pace(t.Context(), 100*time.Millisecond)
	}
	eventually(t, func() error { // other surfaces may be named before
		s := r.state(t, "degraded", "blind")
		if !slices.ContainsFunc(s.Reasons, func(r struct{ Surface, Reason string }) bool { return r.Surface == "feed-ip" && r.Reason != "" }) {
			return fmt.Errorf("the source is %s because of %v, want feed-ip among the reasons", s.State, s.Reasons)
		}
		return nil
	})
	r.disarm(t)
	ids = append(ids, r.publish(t, `{"type":"ip"}`), r.publish(t, `{"type":"oir"}`))
	r.waitListed(t, ids...)
	r.state(t, "live")
}
