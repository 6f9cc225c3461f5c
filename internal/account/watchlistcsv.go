package account

import (
	"bytes"
	"context"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/push/watchlist"
	"pregon/internal/query"
	"pregon/internal/server/content"
	"pregon/internal/store"
)

// Columns of a watchlist as CSV. A row with a filter is a saved search; any other is an
// issuer. New columns are added at the end.
var listColumns = []string{"id", "name", "ticker", "nif", "isins", "lei", "filter"}

// WatchlistCSV returns the entries of a list as CSV, which Import reads.
func (s *Service) WatchlistCSV(
	ctx context.Context,
	by access.Principal,
	id string,
	dialect content.Dialect,
) ([]byte, error) {
	now, err := s.o.Query.Loaded()
	if err != nil {
		return nil, err
	}
	var l watchlist.List
	err = store.Within(ctx, func(ctx context.Context) (err error) {
		l, err = s.o.Watchlists.Find(ctx, s.o.Keys.Reach(by), id)
		return err
	})
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	out := content.NewCSVWriter(&body, dialect)
	write := func(cells ...string) {
		for i := range cells {
			cells[i] = content.Cell(cells[i])
		}
		_ = out.Write(cells) // a buffer does not fail
	}
	write(listColumns...)
	for _, id := range l.Issuers {
		e, known := now.Directory().Find(id)
		if !known {
			write(id, "", "", "", "", "", "")
			continue
		}
		one := e.Issuer
		isins := strings.Join(query.ISINs(now, one.ID, one.ISINs), content.ListSeparator)
		write(id, one.Name, one.Ticker, one.CIF(), isins, one.LEI, "")
	}
	for _, f := range l.Filters {
		write("", f.Name, "", "", "", "", query.NewFilterBody(f.Filter).Values().Encode())
	}
	out.Flush()
	return body.Bytes(), nil
}
