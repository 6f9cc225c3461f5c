package ingest

import "pregon/internal/source/health"

// Status returns the health of the source as this process sees it.
func (i *Ingest) Status() health.Status {
	s, _ := i.monitor.Status()
	return s
}
