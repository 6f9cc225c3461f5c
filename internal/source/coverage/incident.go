package coverage

import (
	"context"
	"encoding/json"
	"time"

	"pregon/internal/source/health"
	"pregon/internal/store"
)

// Incident is a time during which the source could not be read well: it was
// degraded or blind.
type Incident struct {
	State   health.State    `json:"state"` // the worst during the incident
	Since   time.Time       `json:"since"`
	Until   time.Time       `json:"until,omitzero"` // zero while it lasts
	Reasons []health.Reason `json:"reasons"`
}

const incidentsName = "incidents"

// Incidents returns the recorded incidents, the newest first.
func (t *Tracker) Incidents() (out []Incident) {
	if json.Unmarshal([]byte(t.text(incidentsName)), &out) != nil {
		return nil
	}
	return out
}

// SetIncidents replaces the recorded incidents.
func (t *Tracker) SetIncidents(ctx context.Context, lease *store.Lease, incidents []Incident) error {
	text, err := json.Marshal(incidents)
	if err != nil {
		return err
	}
	return t.set(ctx, lease, newRecord(incidentsName, string(text)))
}

// Silent returns since when no process has reported the status, and false if one
// did recently, or none ever did.
func (t *Tracker) Silent() (since time.Time, silent bool) {
	s, reported := t.Status()
	t.mu.RLock()
	defer t.mu.RUnlock()
	return s.At, reported && time.Since(t.statusSeen) >= silence
}
