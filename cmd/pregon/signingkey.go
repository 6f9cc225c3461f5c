package main

import (
	"context"
	"fmt"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/service/authorization"
	"pregon/internal/store/engine"
)

type signingKeyCmd struct {
	Rotate rotateSigningKeyCmd `cmd:"" help:"Create a new key. Tokens signed by the old one stay valid."`
}

type rotateSigningKeyCmd struct {
	adminFlags
	AtOnce     bool `help:"Refuse the old key and every token that it signed from now on. For a key that may have leaked."`
	LostSecret bool `help:"With --at-once: continue although the old key cannot be opened, because the PREGON_SECRET_KEY that sealed it is lost."`
}

// Run rotates the signing key.
func (c *rotateSigningKeyCmd) Run(ctx context.Context, p *process) error {
	if c.LostSecret && !c.AtOnce {
		return fault.New(fault.Invalid, "--lost-secret needs --at-once: without the old key nothing that it "+
			"signed can be verified any more")
	}
	box, err := secret.NewBox(p.getenv(secretKeyEnv))
	if err != nil {
		return err
	}
	return c.with(ctx, func(db engine.Store, audit access.Audit) error {
		key, err := authorization.RotateSigningKey(ctx, db, box, audit,
			authorization.Rotation{AtOnce: c.AtOnce, LostSecret: c.LostSecret})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stderr, "%s signs from %s\n", key.ID,
			key.SignsFrom.In(disclosure.Madrid).Format(time.RFC3339))
		return err
	})
}
