package search

import "strings"

// maxNameParts is how many parts between commas the name of an issuer has, with its legal
// forms: "Aurora, S.A., S.M.E.".
const maxNameParts = 4

// SplitIssuers returns the names of issuers in a list with commas between them. Names have
// commas too: the whole is one name if it is known, and a part that is not known belongs to
// the name before it if they are known together. Blank parts are left out.
func SplitIssuers(list string, known func(name string) bool) (names []string) {
	list = strings.TrimSpace(list)
	if !strings.Contains(list, ",") || known(list) {
		return []string{list}
	}
	var parts []string
	for part := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return []string{list}
	}
	for len(parts) > 0 {
		n := nameParts(parts, known)
		names = append(names, joinParts(parts[:n]))
		parts = parts[n:]
	}
	return names
}

// nameParts returns how many of the next parts are the name of one issuer, one if they name
// none.
func nameParts(parts []string, known func(name string) bool) int {
	found := 1
	for n := 2; n <= min(len(parts), maxNameParts) && !known(joinParts(parts[n-1:n])); n++ {
		if known(joinParts(parts[:n])) {
			found = n
		}
	}
	return found
}

func joinParts(parts []string) string { return strings.TrimSpace(strings.Join(parts, ",")) }
