package subscription

import "context"

const (
	MostPerAccount = maxPerAccount
	MostSecrets    = maxSecrets
	LongestFilters = maxFilters
)

// EndGone runs the check of accounts, which otherwise runs every minute.
func (r *Registry) EndGone(ctx context.Context) { r.endGone(ctx) }
