package relational

import (
	"context"
	"fmt"
	"time"
)

const (
	sourceSetting  = "source"
	createdSetting = "created_at"
)

// SetCreated records when a store was created.
func SetCreated(ctx context.Context, tx Tx, at time.Time) {
	tx.Exec(ctx, `INSERT INTO setting (name, value) VALUES ($1, $2)`, createdSetting, at.UTC().Format(time.RFC3339))
}

func (b *Base) Source(ctx context.Context) (string, error) { return b.setting(ctx, sourceSetting) }

func (b *Base) CreatedAt(ctx context.Context) (t time.Time, err error) {
	value, err := b.setting(ctx, createdSetting)
	if err != nil || value == "" {
		return time.Time{}, err
	}
	if t, err = time.Parse(time.RFC3339, value); err != nil {
		return time.Time{}, fmt.Errorf("the store's time of creation is %q: %w", value, err)
	}
	return t, nil
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
