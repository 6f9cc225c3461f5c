package disclosure

// lenLEI is the number of characters of a legal entity identifier.
const lenLEI = 20

// IsLEI reports whether s is a legal entity identifier as ISO 17442 defines it: eighteen
// capital letters or digits and two check digits, which make the remainder of the whole
// number by 97 one. A letter counts as two digits, from 10 for A to 35 for Z. Check digits
// are computed as 98 minus a remainder, so that 00, 01 and 99 are not valid.
func IsLEI(s string) bool {
	if len(s) != lenLEI || !isDigits(s[lenLEI-2:]) {
		return false
	}
	if check := s[lenLEI-2:]; check < "02" || check > "98" {
		return false // the same remainder as valid check digits
	}
	remainder := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			remainder = (remainder*10 + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			remainder = (remainder*100 + int(c-'A') + 10) % 97
		default:
			return false
		}
	}
	return remainder == 1
}
