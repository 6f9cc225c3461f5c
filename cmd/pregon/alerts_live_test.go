package main_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"pregon/internal/server/telemetry/alerttest"
)

// TestDocumentsWaiting: no alert fires on the metrics of a healthy service, and
// one does when documents cannot be downloaded.
func TestDocumentsWaiting(t *testing.T) {
	t.Parallel()
	alerts := alerttest.Read(t, "../../deploy/prometheus/pregon.rules.yml")
	r := newReader(t, startSource(t), engines["sqlite"](t))
	r.serve = r.startServe(t, "--debug-listen", "127.0.0.1:0")
	r.started(t)
	eventually(t, func() error {
		page, err := r.serve.metrics()
		if err != nil {
			return err
		}
		for _, a := range alerts {
			if a.Fires(t, page) {
				return fmt.Errorf("%s fires on a healthy service: %s", a.Name, a.Expression)
			}
		}
		return nil
	})
	r.arm(t, `{"kind":"stall","surface":"document","by":"1h","for":"1h"}`)
	for range 60 {
		r.publish(t, `{"type":"oir","document":true}`)
	}
	eventually(t, func() error {
		page, err := r.serve.metrics()
		if err == nil && !alerts["PregonDocumentsWaiting"].Fires(t, page) {
			return fmt.Errorf("%s does not fire", alerts["PregonDocumentsWaiting"].Expression)
		}
		return err
	})
}

// metrics returns the metrics of a service with a debug listener.
func (s *service) metrics() (string, error) {
	m := debugAddress.FindStringSubmatch(s.log.String())
	if m == nil {
		return "", errors.New("the log has no debug address")
	}
	resp, err := http.Get(m[1] + "/metrics")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
