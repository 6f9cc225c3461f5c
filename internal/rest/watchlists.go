package rest

import (
	"net/http"
	"strings"

	"pregon/internal/account"
	"pregon/internal/catalog"
	"pregon/internal/server/content"
)

const watchlistsPath = "/api/v1/account/watchlists"

// watchlistRoutes exist where people can sign in. Their rules are in package account.
var watchlistRoutes = []route{
	{
		pattern:     "GET " + watchlistsPath,
		operation:   "getWatchlists",
		need:        account.ToReadWatchlists,
		handle:      (*API).listWatchlists,
		beforeReady: true,
	},
	{
		pattern:   "POST " + watchlistsPath,
		operation: "createWatchlist",
		need:      account.ToKeepWatchlists,
		handle:    (*API).createWatchlist,
	},
	{
		pattern:     "GET " + watchlistsPath + "/{id}",
		operation:   "getWatchlist",
		need:        account.ToReadWatchlists,
		handle:      (*API).getWatchlist,
		beforeReady: true,
	},
	{
		pattern:   "PATCH " + watchlistsPath + "/{id}",
		operation: "changeWatchlist",
		need:      account.ToKeepWatchlists,
		handle:    (*API).changeWatchlist,
	},
	{
		pattern:     "DELETE " + watchlistsPath + "/{id}",
		operation:   "deleteWatchlist",
		need:        account.ToKeepWatchlists,
		handle:      (*API).deleteWatchlist,
		beforeReady: true,
	},
	{
		pattern:   "POST " + watchlistsPath + "/{id}/entries",
		operation: "addToWatchlist",
		need:      account.ToKeepWatchlists,
		handle:    (*API).addToWatchlist,
	},
	{
		pattern:     "DELETE " + watchlistsPath + "/{id}/entries",
		operation:   "removeFromWatchlist",
		need:        account.ToKeepWatchlists,
		handle:      (*API).removeFromWatchlist,
		beforeReady: true,
	},
	{
		pattern:   "POST " + watchlistsPath + "/{id}/import",
		operation: "importWatchlist",
		need:      account.ToKeepWatchlists,
		handle:    (*API).importWatchlist,
		expensive: true,
	},
	{
		pattern:     "POST " + watchlistsPath + "/{id}/share",
		operation:   "shareWatchlist",
		need:        account.ToKeepWatchlists,
		handle:      (*API).shareWatchlist,
		beforeReady: true,
	},
	{
		pattern:     "DELETE " + watchlistsPath + "/{id}/share",
		operation:   "endWatchlistShare",
		need:        account.ToKeepWatchlists,
		handle:      (*API).endWatchlistShare,
		beforeReady: true,
	},
	{
		pattern:     "POST " + watchlistsPath + "/{id}/feed",
		operation:   "renewWatchlistFeed",
		need:        account.ToKeepWatchlists,
		handle:      (*API).renewWatchlistFeed,
		beforeReady: true,
	},
	{
		pattern:     "DELETE " + watchlistsPath + "/{id}/feed",
		operation:   "endWatchlistFeed",
		need:        account.ToKeepWatchlists,
		handle:      (*API).endWatchlistFeed,
		beforeReady: true,
	},
}

func (a *API) listWatchlists(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.ListWatchlists(r.Context(), caller(r)))
}

func (a *API) createWatchlist(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.WatchlistDraft
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	made, err := a.Account.CreateWatchlist(r.Context(), caller(r), asked)
	if err != nil {
		return response{}, err
	}
	out, err := encode(made)
	out.status = http.StatusCreated
	out.location = watchlistsPath + "/" + made.ID
	return out, err
}

// getWatchlist returns a list as JSON, or its entries as CSV.
func (a *API) getWatchlist(r *http.Request, _ *catalog.Snapshot) (out response, err error) {
	if wantsCSV(r) {
		out, err = a.watchlistAsCSV(r)
	} else {
		out, err = answer(a.Account.Watchlist(r.Context(), caller(r), r.PathValue("id")))
	}
	out.negotiated = !isTable(r)
	return out, err
}

func (a *API) watchlistAsCSV(r *http.Request) (response, error) {
	p := a.readParams(r)
	dialect := p.Dialect()
	if err := p.Err(); err != nil {
		return response{}, err
	}
	id := strings.TrimSuffix(r.PathValue("id"), csvSuffix)
	body, err := a.Account.WatchlistCSV(r.Context(), caller(r), id, dialect)
	if err != nil {
		return response{}, err
	}
	return response{
		body:        body,
		contentType: content.CSVType,
		header:      csvHeader(r, response{}),
	}, nil
}

func (a *API) importWatchlist(r *http.Request, _ *catalog.Snapshot) (response, error) {
	file, err := readFile(r)
	if err != nil {
		return response{}, err
	}
	return answer(a.Account.ImportWatchlist(r.Context(), caller(r), r.PathValue("id"), file))
}

func (a *API) changeWatchlist(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.WatchlistDraft
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	return answer(a.Account.ChangeWatchlist(r.Context(), caller(r), r.PathValue("id"), asked))
}

func (a *API) deleteWatchlist(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return done(a.Account.DeleteWatchlist(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) addToWatchlist(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.WatchlistEntry
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	return answer(a.Account.AddToWatchlist(r.Context(), caller(r), r.PathValue("id"), asked))
}

func (a *API) removeFromWatchlist(r *http.Request, _ *catalog.Snapshot) (response, error) {
	p := a.readParams(r)
	asked := account.WatchlistEntry{Issuer: p.Text("issuer")}
	if asked.Issuer == "" {
		p.Reject("issuer", "", "must name the issuer to remove")
	}
	if err := p.Err(); err != nil {
		return response{}, err
	}
	return answer(a.Account.RemoveFromWatchlist(r.Context(), caller(r), r.PathValue("id"), asked))
}

func (a *API) shareWatchlist(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.ShareWatchlist(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) endWatchlistShare(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.EndWatchlistShare(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) renewWatchlistFeed(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.RenewWatchlistFeed(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) endWatchlistFeed(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.EndWatchlistFeed(r.Context(), caller(r), r.PathValue("id")))
}
