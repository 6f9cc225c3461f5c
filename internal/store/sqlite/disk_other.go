//go:build !linux && !darwin

package sqlite

// DiskFree returns the bytes that are free on the disk of a directory. They are not
// known on this system.
func DiskFree(string) (bytes int64, known bool) { return 0, false }

// readOnly reports whether a file may not be written any more. It is not known on
// this system.
func readOnly(string) bool { return false }
