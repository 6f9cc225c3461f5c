package text

// LowerASCII returns s with the ASCII letters in lower case and all else as it is.
// strings.ToLower turns the Kelvin sign into k, and so another text into a known one.
func LowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + ('a' - 'A')
		}
	}
	return string(b)
}

// EqualFoldASCII reports whether two texts are equal but for the case of ASCII letters.
// strings.EqualFold also takes the long s for s, and the Kelvin sign for k.
func EqualFoldASCII(a, b string) bool { return LowerASCII(a) == LowerASCII(b) }
