package registers

import (
	"strconv"
	"strings"
)

// ordinals number the positions that share the beginning of an id. A number that was
// given to a position is never given to another, also after its name was erased.
type ordinals map[string]int

// use records the id of a known position, which is base, or base and an ordinal.
func (o ordinals) use(base, id string) {
	n := 1
	if rest, ok := strings.CutPrefix(id, base+"-"); ok {
		if ordinal, err := strconv.Atoi(rest); err == nil {
			n = ordinal
		}
	}
	o[base] = max(o[base], n)
}

// next returns the next ordinal of a base, from 1.
func (o ordinals) next(base string) int {
	o[base]++
	return o[base]
}

// values identify a short position whose name is not known any more, or spelt in another way.
type values struct{ isin, day, percent string }

// numberOf returns a number of the register as positions have it.
func numberOf(n int64) string { return strconv.FormatInt(n, 10) }
