package secret

import "crypto/rand"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Base62 returns the last digits of n in base 62.
func Base62(n uint64, digits int) string {
	out := make([]byte, digits)
	for i := range out {
		out[digits-1-i] = alphabet[n%62]
		n /= 62
	}
	return string(out)
}

// RandomText returns random letters and digits, all with the same probability.
func RandomText(length int) string {
	const fair = 256 - 256%len(alphabet) // larger bytes would favour the first characters
	out := make([]byte, 0, length)
	var random [64]byte
	for {
		_, _ = rand.Read(random[:]) // never fails
		for _, b := range random {
			if int(b) >= fair {
				continue
			}
			if out = append(out, alphabet[int(b)%len(alphabet)]); len(out) == length {
				return string(out)
			}
		}
	}
}
