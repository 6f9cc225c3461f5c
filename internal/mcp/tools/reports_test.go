package tools

import "testing"

// The pages after a truncated list omit nothing, repeat nothing, and do not get
// ever smaller.
func TestNextPage(t *testing.T) {
	for limit := 2; limit <= 50; limit++ {
		for page := 1; page <= 60; page++ {
			for shown := 1; shown < limit; shown++ {
				offset := (page - 1) * limit
				kept, next := nextPage(offset, shown, limit)
				if kept < 1 || kept > shown || kept <= shown/2 || next.Limit < 1 || next.Limit > limit || (next.Page-1)*next.Limit != offset+kept {
					t.Fatalf("page %d of %d, %d shown: %d kept, then page %d of %d", page, limit, shown, kept, next.Page, next.Limit)
				}
				if shown >= 12 && next.Limit < 6 {
					t.Errorf("page %d of %d, %d shown: the next limit is %d", page, limit, shown, next.Limit)
				}
			}
		}
	}
}
