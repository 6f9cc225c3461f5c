package main_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"pregon/internal/store"
	"pregon/internal/store/engine"
)

// TestMigrateToRefused: a store that cannot go back to a version is not migrated
// forward either.
func TestMigrateToRefused(t *testing.T) {
	t.Parallel()
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := newStore(t)
			address, err := engine.ParseAddress(spec)
			if err != nil {
				t.Fatal(err)
			}
			pregon(t, spec, "migrate")
			pregon(t, spec, "migrate", "--to", "previous")
			for to, want := range map[int]string{
				store.PreviousSchema - 1: "at the earliest",
				store.PreviousSchema + 1: "is above it",
				99:                       "is above it",
			} {
				out, err := exec.Command(program, "migrate", "--to", strconv.Itoa(to), "--store", spec).CombinedOutput()
				if err == nil || !strings.Contains(string(out), want) {
					t.Errorf("--to %d: got %v, %s, want a refusal with %q", to, err, out, want)
				}
				schema, err := address.Schema(t.Context())
				if err != nil || schema.Version != store.PreviousSchema {
					t.Fatalf("after --to %d: got %+v, %v, want version %d", to, schema, err, store.PreviousSchema)
				}
			}
		})
	}
}
