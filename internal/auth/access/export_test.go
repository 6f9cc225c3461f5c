package access

// WithChecksum completes a key without its checksum.
func WithChecksum(text string) string { return text + checksum(text) }
