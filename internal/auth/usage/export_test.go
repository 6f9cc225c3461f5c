package usage

import "context"

// Flush stores the counts at once.
func (c *Counter) Flush(ctx context.Context) { _ = c.flush(ctx) }
