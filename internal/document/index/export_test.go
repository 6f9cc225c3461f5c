package index

import "context"

// Step does the next piece of work, and reports whether there was any.
func (k *Keeper) Step(ctx context.Context) (bool, error) { return k.step(ctx) }
