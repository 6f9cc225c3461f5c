// Package content implements the parts of content negotiation and of conditional
// requests that all surfaces share.
package content

import (
	"hash/fnv"
	"strconv"
	"strings"
)

// MediaRange is an element of an Accept header.
type MediaRange struct {
	Type    string // in lower case: text/html, text/* or */*
	Quality float64
}

// ParseAccept returns the elements of the values of an Accept header, in their order.
// An invalid quality counts as 0.
func ParseAccept(header []string) []MediaRange {
	var out []MediaRange
	for _, line := range header {
		for part := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(part, ";")
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
				out = append(out, MediaRange{name, quality(parameters)})
			}
		}
	}
	return out
}

func quality(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		if name, value, _ := strings.Cut(strings.TrimSpace(p), "="); strings.EqualFold(strings.TrimSpace(name), "q") {
			q, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return q
		}
	}
	return 1
}

// Preferred returns the index of the content type that the values of an Accept header
// prefer, the earlier one of equals. It returns 0 if none is acceptable.
func Preferred(header []string, types ...string) int {
	accept := ParseAccept(header)
	best, highest := 0, 0.0
	for i, t := range types {
		q, _ := Quality(accept, t)
		if len(accept) == 0 {
			q = 1
		}
		if q > highest {
			best, highest = i, q
		}
	}
	return best
}

// Quality returns the quality of a type in an Accept header, that of the most specific
// range, and whether the type is named there, not just covered by a wildcard.
func Quality(accept []MediaRange, contentType string) (q float64, named bool) {
	name, _, _ := strings.Cut(contentType, ";")
	major, _, _ := strings.Cut(name, "/")
	specific := 0
	for _, r := range accept {
		rank := 0
		switch r.Type {
		case name:
			rank = 3
		case major + "/*":
			rank = 2
		case "*/*":
			rank = 1
		}
		if rank > specific {
			q, specific = r.Quality, rank
		}
	}
	return q, specific == 3
}

// Hash returns the hash of a body for Tag. It is the same in all replicas.
func Hash(body []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(body)
	return h.Sum64()
}

// Tag returns the ETag for a hash. It is weak, because a response may be compressed.
func Tag(hash uint64) string { return `W/"` + strconv.FormatUint(hash, 16) + `"` }

// Matches reports whether an If-None-Match header contains a tag.
func Matches(header []string, etag string) bool {
	for _, line := range header {
		for tag := range strings.SplitSeq(line, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" || strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(etag, "W/") {
				return true
			}
		}
	}
	return false
}
