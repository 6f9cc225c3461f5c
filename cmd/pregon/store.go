package main

import (
	"context"
	"fmt"

	"pregon/internal/store/engine"
)

// address parses --store.
func (f storeFlag) address() (engine.Address, error) {
	address, err := engine.ParseAddress(f.Store)
	if err != nil {
		return address, fmt.Errorf("--store: %w", err)
	}
	return address, nil
}

// open opens a store that exists and migrates its schema; see [engine.Address.Open].
func (f storeFlag) open(ctx context.Context) (engine.Store, error) {
	address, err := f.address()
	if err != nil {
		return nil, err
	}
	return address.Open(ctx, false)
}

// address parses --store.
func (f newStoreFlags) address() (engine.Address, error) {
	address, err := f.storeFlag.address()
	if f.NewStore {
		address = address.BeginAnew()
	}
	return address, err
}

// openOrCreate is like open, but creates a store where there is none.
func (f newStoreFlags) openOrCreate(ctx context.Context) (engine.Store, error) {
	address, err := f.address()
	if err != nil {
		return nil, err
	}
	return address.Open(ctx, true)
}

// show returns the address of the store without its secrets.
func (f storeFlag) show() string { return showAddress(f.Store) }

func showAddress(store string) string {
	address, err := engine.ParseAddress(store)
	if err != nil {
		return "?"
	}
	return address.String()
}
