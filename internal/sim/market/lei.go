package market

import (
	"fmt"
	"strings"

	"pregon/internal/disclosure"
)

// leiPrefix begins every LEI of the market. No office that issues LEIs has it.
const leiPrefix = "SIM0"

// LEI returns the LEI of a fictional issuer: the prefix, the id, and the check digits
// of ISO 17442. An issuer keeps its LEI when its name changes.
func LEI(i disclosure.Issuer) string {
	const length = 18 - len(leiPrefix)
	id := strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' {
			return c
		}
		return -1
	}, strings.ToUpper(i.ID))
	id = id[max(0, len(id)-length):]
	code := leiPrefix + strings.Repeat("0", length-len(id)) + id
	return fmt.Sprintf("%s%02d", code, 98-mod97(code+"00"))
}

// mod97 returns the remainder of a code by 97, with letters written as the numbers
// from 10 (ISO 7064).
func mod97(code string) int {
	rest := 0
	for _, c := range code {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest
}
