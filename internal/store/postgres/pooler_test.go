package postgres_test

import (
	"testing"

	"pregon/internal/store"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/storetest"
	"pregon/internal/test/longtest"
)

// TestPooler runs the tests of the store behind a connection pooler in transaction
// mode, where two transactions have the same server connection only by chance, and
// notifications do not arrive.
func TestPooler(t *testing.T) {
	longtest.Skip(t, "it needs PgBouncer")
	cluster := pgtest.NewCluster(t)
	storetest.Run(t, storetest.Engine{
		Fresh: func(t *testing.T) func() (store.Store, error) {
			url := cluster.Pooler(t)
			return func() (store.Store, error) { return openFaulty(t.Context(), url) }
		},
		FailCommit: func(s store.Store, after bool, err error) { s.(*faulty).Fail(after, err) },
		Newer: func(t *testing.T, s store.Store) {
			query(t, s.(*faulty).url, `UPDATE schema_version SET version = version + 1`)
		},
	})
}
