package rest

import (
	"net/http"

	"pregon/internal/catalog"
)

func (a *API) getStatus(_ *http.Request, s *catalog.Snapshot) (response, error) {
	return encode(a.Query.Status(s))
}
