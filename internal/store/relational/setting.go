package relational

import (
	"context"
	"time"

	"pregon/internal/store"
)

const (
	sourceSetting  = "source"
	createdSetting = "created_at"
)

// SetCreated records when a store was created.
func SetCreated(ctx context.Context, tx DB, at time.Time) error {
	return tx.Exec(ctx, `INSERT INTO setting (name, value) VALUES ($1, $2)`, createdSetting, store.FormatCreated(at))
}

func (b *Base) Source(ctx context.Context) (string, error) { return b.setting(ctx, sourceSetting) }

func (b *Base) CreatedAt(ctx context.Context) (time.Time, error) {
	value, err := b.setting(ctx, createdSetting)
	if err != nil {
		return time.Time{}, err
	}
	return store.ParseCreated(value)
}

// setting returns a setting's value, empty when there is none.
func (b *Base) setting(ctx context.Context, name string) (value string, err error) {
	defer b.fail("reading the setting "+name, &err)
	_, err = One(ctx, b, []any{&value}, `SELECT value FROM setting WHERE name = $1`, name)
	return value, err
}

func (b *Base) ClaimSource(ctx context.Context, source string) (string, error) {
	// An insert waits for a concurrent one, so that the read that follows finds
	// one of the two.
	err := b.Exec(ctx, `INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`, sourceSetting, source)
	if err != nil {
		return "", b.Failed("claiming the store's source", err)
	}
	return b.Source(ctx)
}
