package xls

import "unicode/utf16"

// Flags of a string.
const (
	isWide = 1 << iota // two bytes for a character
	_
	hasPhonetics // with data for Asian writing at the end
	hasFonts     // with changes of the font at the end
)

// cursor reads data that is spread over records.
type cursor struct {
	parts [][]byte // that are left
	text  *int     // bytes of text that may still be read
}

// rest returns what is left of the present part, which is not empty unless the data
// ends. crossed reports whether a part ended.
func (c *cursor) rest() (part []byte, crossed bool) {
	for len(c.parts) > 0 && len(c.parts[0]) == 0 {
		c.parts, crossed = c.parts[1:], true
	}
	if len(c.parts) == 0 {
		return nil, crossed
	}
	return c.parts[0], crossed
}

// ended reports whether nothing is left.
func (c *cursor) ended() bool {
	part, _ := c.rest()
	return part == nil
}

// number reads a little-endian number of some bytes.
func (c *cursor) number(size int) (n int, err error) {
	for k := range size {
		part, _ := c.rest()
		if part == nil {
			return 0, errDamaged
		}
		n |= int(part[0]) << (8 * k)
		c.parts[0] = part[1:]
	}
	return n, nil
}

// skip passes over some bytes.
func (c *cursor) skip(size int) error {
	for size > 0 {
		part, _ := c.rest()
		if part == nil {
			return errDamaged
		}
		n := min(size, len(part))
		c.parts[0], size = part[n:], size-n
	}
	return nil
}

// str reads a string whose length is a number of lengthSize bytes.
func (c *cursor) str(lengthSize int) (string, error) {
	length, err := c.number(lengthSize)
	if err != nil {
		return "", err
	}
	flags, err := c.number(1)
	if err != nil {
		return "", err
	}
	after := 0 // bytes that follow the characters
	if flags&hasFonts != 0 {
		runs, err := c.number(2)
		if err != nil {
			return "", err
		}
		after += 4 * runs
	}
	if flags&hasPhonetics != 0 {
		size, err := c.number(4)
		if err != nil {
			return "", err
		}
		after += size
	}
	s, err := c.characters(length, flags&isWide != 0)
	if err != nil {
		return "", err
	}
	return s, c.skip(after)
}

// characters reads the characters of a string. A record that continues in the middle
// of them begins with a byte that says how wide they are from there.
func (c *cursor) characters(length int, wide bool) (string, error) {
	units := make([]uint16, 0, min(length, 1<<10))
	for len(units) < length {
		part, crossed := c.rest()
		if part == nil {
			return "", errDamaged
		}
		if crossed {
			wide = part[0]&isWide != 0
			part = part[1:]
			c.parts[0] = part
		}
		width := 1
		if wide {
			width = 2
		}
		n := min(length-len(units), len(part)/width)
		if n == 0 && len(part) > 0 {
			return "", errDamaged // half a character
		}
		for k := range n {
			if wide {
				units = append(units, u16(part, 2*k))
			} else {
				units = append(units, uint16(part[k]))
			}
		}
		c.parts[0] = part[n*width:]
	}
	s := string(utf16.Decode(units))
	if *c.text -= len(s); *c.text < 0 {
		return "", invalid("it has more than %d MB of text", MaxText>>20)
	}
	return s, nil
}

// sharedStrings reads the table of the strings that cells refer to.
func sharedStrings(c *cursor) ([]string, error) {
	if err := c.skip(4); err != nil { // the number of references
		return nil, err
	}
	count, err := c.number(4)
	if err != nil {
		return nil, err
	}
	left := 0
	for _, part := range c.parts {
		left += len(part)
	}
	table := make([]string, 0, min(count, left/3)) // a string has at least three bytes
	for len(table) < count {
		if c.ended() {
			break // the count may be wrong; cells that refer to a missing string are refused
		}
		s, err := c.str(2)
		if err != nil {
			return nil, err
		}
		table = append(table, s)
	}
	return table, nil
}
