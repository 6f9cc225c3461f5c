package main

import (
	"pregon/internal/fault"
	"pregon/internal/service/push"
)

// watchlistFlags are what an operator decides about watchlists.
type watchlistFlags struct {
	Watchlists       int `default:"20" placeholder:"N" help:"Watchlists of an account."`
	WatchlistEntries int `default:"500" placeholder:"N" help:"Issuers and saved searches of a watchlist together."`
}

func (f *watchlistFlags) validate() error {
	if f.Watchlists < 1 || f.Watchlists > 1000 {
		return fault.New(fault.Invalid, "--watchlists %d must be from 1 to 1000", f.Watchlists)
	}
	if f.WatchlistEntries < 1 || f.WatchlistEntries > 5000 {
		return fault.New(fault.Invalid, "--watchlist-entries %d must be from 1 to 5000", f.WatchlistEntries)
	}
	return nil
}

func (f *watchlistFlags) settings() push.WatchlistSettings {
	return push.WatchlistSettings{
		Lists:   f.Watchlists,
		Entries: f.WatchlistEntries,
	}
}
