package rest

import (
	"net/http"
	"time"

	"pregon/internal/catalog"
)

func (a *API) getAnalytics(_ *http.Request, s *catalog.Snapshot) (response, error) {
	return encode(s.Analytics(time.Now()))
}
