package store

import (
	"context"
	"time"

	"pregon/internal/fault"
)

// requestTimeout is how long a request waits for the store. The store itself waits
// longer, and browsers and proxies do not.
const requestTimeout = 5 * time.Second

// Within calls fn for a request, with a deadline. When the deadline passes, the error
// of fn is wrapped in an Unavailable one with a text for clients.
func Within(ctx context.Context, fn func(context.Context) error) error {
	waiting, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := fn(waiting)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return fault.Wrap(fault.Unavailable, err, "The store does not answer. Try again in a few seconds.")
	}
	return err
}

// Unavailable wraps an engine's error, whose text can contain hosts and users, in
// one with a text that clients may see. It returns nil and Conflict errors, such
// as a lost lease, unchanged.
func Unavailable(err error) error {
	if err == nil || fault.KindOf(err) == fault.Conflict {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "the store does not answer as it should")
}
