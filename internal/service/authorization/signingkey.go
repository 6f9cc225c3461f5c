package authorization

import (
	"context"
	"fmt"
	"log/slog"

	"pregon/internal/auth/access"
	"pregon/internal/auth/sealing"
	"pregon/internal/auth/secret"
	"pregon/internal/auth/token"
	"pregon/internal/push/alert/channel"
	"pregon/internal/store"
)

// Rotation says how the key that signs tokens is replaced.
type Rotation struct {
	AtOnce     bool // the old key and every token that it signed are refused from now on
	LostSecret bool // with AtOnce: continue although the old key cannot be opened
}

// RotateSigningKey replaces the key that signs tokens, and returns the new one.
func RotateSigningKey(
	ctx context.Context, db store.Store, box *secret.Box, audit access.Audit, how Rotation,
) (token.SigningKey, error) {
	ring := token.NewRing(db, box, nil)
	if err := ring.Refresh(ctx); err != nil && !(how.AtOnce && how.LostSecret) {
		return token.SigningKey{}, fmt.Errorf("the current key cannot be opened: %w "+
			"(if the secret is lost: --at-once --lost-secret)", err)
	}
	key, err := ring.Rotate(ctx, how.AtOnce)
	if err != nil {
		return token.SigningKey{}, err
	}
	if how.AtOnce { // what leaked may include the key of sessions
		if err := sealing.New(db, box, nil).Replace(ctx); err != nil {
			return token.SigningKey{}, err
		}
	}
	if how.LostSecret {
		if err := channel.ReplaceLostPushKey(ctx, db, box); err != nil {
			return token.SigningKey{}, err
		}
	}
	audit(ctx, "signing_key.rotated", slog.String("kid", key.ID), slog.Bool("at_once", how.AtOnce))
	return key, nil
}
