package access

import (
	"context"
	"log/slog"
)

// Audit is told of what matters to security, under a name such as
// key.created, and never of a secret.
type Audit func(ctx context.Context, event string, attrs ...slog.Attr)

func (a Audit) tell(ctx context.Context, event string, attrs ...slog.Attr) {
	if a != nil {
		a(ctx, event, attrs...)
	}
}
