package pdf

import (
	"fmt"
	"slices"
)

// Bookmark is a line of the outline of a file.
type Bookmark struct {
	Title string
	Page  Ref
	Level int // 1, or 2 for a bookmark below the last one of level 1
}

// AddOutline adds an outline and returns its root. The first bookmark must be of
// level 1.
func (f *File) AddOutline(marks []Bookmark) Ref {
	root := f.Next(0) // bookmark n is the object root+1+n
	parents := make([]Ref, len(marks))
	children := map[Ref][]Ref{}
	top := root
	for n, m := range marks {
		self := root + 1 + Ref(n)
		if parents[n] = top; m.Level == 1 {
			parents[n], top = root, self
		}
		children[parents[n]] = append(children[parents[n]], self)
	}
	ends := func(c []Ref) string { return fmt.Sprintf("/First %v /Last %v", c[0], c[len(c)-1]) }
	f.Addf("<< /Type /Outlines %s /Count %d >>", ends(children[root]), len(children[root]))
	for n, m := range marks {
		self := root + 1 + Ref(n)
		dict := fmt.Sprintf("<< /Title %s /Parent %v /Dest [%v /XYZ null null null]", TextString(m.Title),
			parents[n], m.Page)
		siblings := children[parents[n]]
		at := slices.Index(siblings, self)
		if at > 0 {
			dict += fmt.Sprintf(" /Prev %v", siblings[at-1])
		}
		if at+1 < len(siblings) {
			dict += fmt.Sprintf(" /Next %v", siblings[at+1])
		}
		if below := children[self]; len(below) > 0 {
			dict += fmt.Sprintf(" %s /Count -%d", ends(below), len(below)) // negative: closed
		}
		f.Add(dict + " >>")
	}
	return root
}
