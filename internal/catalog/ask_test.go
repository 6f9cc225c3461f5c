package catalog_test

import (
	"context"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// reports returns a page. It panics if that fails, which the queries of the tests
// never do.
func reports(s *catalog.Snapshot, f disclosure.Filter, page, limit int) catalog.Page {
	return must(s.Reports(context.Background(), f, page, limit))
}

func issuers(s *catalog.Snapshot, query string, kind disclosure.Kind, limit int) []*search.Issuer {
	return must(s.Issuers(context.Background(), query, kind, limit))
}

func suggest(s *catalog.Snapshot, text string, limit int) catalog.Suggestions {
	return must(s.Suggest(context.Background(), text, limit))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
