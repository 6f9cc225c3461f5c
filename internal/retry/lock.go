package retry

import "context"

// Lock is a mutex for work that takes long. Unlike that of sync.Mutex, the wait for it
// ends with a context, so that a request does not wait for the work of another one after
// its client has gone.
type Lock struct {
	held chan struct{} // full while the lock is held
}

// NewLock returns a lock that is free.
func NewLock() Lock { return Lock{held: make(chan struct{}, 1)} }

// Acquire takes the lock, or waits for it until the context ends. It takes a lock that
// is free even if the context has ended.
func (l Lock) Acquire(ctx context.Context) error {
	select {
	case l.held <- struct{}{}:
		return nil
	default:
	}
	select {
	case l.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release frees the lock.
func (l Lock) Release() { <-l.held }
