package access

import (
	"context"
	"log/slog"
	"time"

	"pregon/internal/server/ratelimit"
)

// LimitAudit records requests over a limit, at most one a minute for each limit and
// subject: a flood must not fill the audit.
type LimitAudit struct {
	audit  Audit
	recent *ratelimit.Window
}

// NewLimitAudit returns a LimitAudit that records nothing if audit is nil.
func NewLimitAudit(audit Audit) *LimitAudit {
	return &LimitAudit{
		audit:  audit,
		recent: ratelimit.NewWindow(ratelimit.Policy{Name: "audit", Limit: 1, Window: time.Minute}),
	}
}

// Record records that a subject exceeded a limit.
func (l *LimitAudit) Record(ctx context.Context, limit, subject string, attrs ...slog.Attr) {
	if !l.recent.Take(ctx, ratelimit.Name(limit+"\x00"+subject)).OK {
		return
	}
	l.audit.record(ctx, "limit.hit", append([]slog.Attr{slog.String("limit", limit)}, attrs...)...)
}
