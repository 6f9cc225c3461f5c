package store

import "pregon/internal/fault"

// Unavailable hides the text of an engine's error behind one that clients may
// see: it can name hosts and users. A Conflict, such as a lost lease, and nil are
// returned as they are.
func Unavailable(err error) error {
	if err == nil || fault.KindOf(err) == fault.Conflict {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "the store does not answer as it should")
}
