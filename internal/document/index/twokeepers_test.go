package index_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"pregon/internal/document/index"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/text"
)

// TestTwoKeepers: two processes that both maintain the index, as after a lost lease,
// while documents are stored again and again, lose no document.
func TestTwoKeepers(t *testing.T) {
	engines(t, func(w *world) {
		var writers, keepers errgroup.Group
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		const writersAtOnce, documents = 3, 20
		texts := make([]map[string]string, writersAtOnce)
		for i := range writersAtOnce {
			texts[i] = map[string]string{}
			writers.Go(func() error {
				random := rand.New(rand.NewPCG(1, uint64(i)))
				for range 150 {
					hash := hashOf(fmt.Sprint(i, random.IntN(documents)))
					page := strings.Join(randomText(random, 30), " ")
					texts[i][hash] = page
					if err := w.db.PutDocument(ctx, store.Document{SHA256: hash, Head: "{}", Pages: []string{page}, Index: index.Build(hash, []string{page})}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		for range 2 {
			keeper := &index.Keeper{Store: w.db, Holder: "both", Logger: slog.New(slog.DiscardHandler)}
			keepers.Go(func() error {
				for ctx.Err() == nil {
					if _, err := keeper.Step(ctx); err != nil && fault.KindOf(err) != fault.Conflict && ctx.Err() == nil {
						return err
					}
				}
				return nil
			})
		}
		if err := writers.Wait(); err != nil {
			w.Fatal(err)
		}
		stop()
		if err := keepers.Wait(); err != nil {
			w.Fatal(err)
		}
		for _, some := range texts {
			for hash, page := range some {
				w.texts[hash] = text.Words(page)
			}
		}
		w.keeper.Holder = "both"
		random := rand.New(rand.NewPCG(3, 4))
		for range 2 {
			for range 100 {
				w.check(randomQuery(random))
			}
			w.maintain()
		}
	})
}
