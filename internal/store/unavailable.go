package store

import "pregon/internal/fault"

// Unavailable wraps an engine's error, whose text can contain hosts and users, in
// one with a text that clients may see. It returns nil and Conflict errors, such
// as a lost lease, unchanged.
func Unavailable(err error) error {
	if err == nil || fault.KindOf(err) == fault.Conflict {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "the store does not answer as it should")
}
