package pdf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/document/extract"
)

// failures are the pages that could not be read, by their errors.
type failures []failure

type failure struct {
	err   error
	pages []int // from 1
}

// add adds a page.
func (f *failures) add(page int, err error) {
	for i, known := range *f {
		if extract.Reason(known.err) == extract.Reason(err) {
			(*f)[i].pages = append(known.pages, page)
			return
		}
	}
	*f = append(*f, failure{err, []int{page}})
}

// drop removes the pages after the given one.
func (f *failures) drop(last int) {
	for i, known := range *f {
		(*f)[i].pages = slices.DeleteFunc(known.pages, func(page int) bool { return page > last })
	}
	*f = slices.DeleteFunc(*f, func(known failure) bool { return len(known.pages) == 0 })
}

// notes returns a note for each reason.
func (f failures) notes() (list []string) {
	for _, known := range f {
		slices.Sort(known.pages) // those of OCR come after the others
		list = append(list, fmt.Sprintf("Pages that could not be read: %s. The reason: %s.",
			pageRanges(known.pages), extract.Reason(known.err)))
	}
	return list
}

// tooLarge returns the error of a part that needs more memory than the limit.
func (d *file) tooLarge() error {
	return &extract.Unreadable{Reason: fmt.Sprintf("reading it needed more than %d MB", d.library.memory>>20)}
}

// pageRanges formats sorted page numbers, such as 1-3, 7.
func pageRanges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.Itoa(list[i])
		if j > i {
			part += "-" + strconv.Itoa(list[j])
		}
		if parts = append(parts, part); len(parts) == 30 {
			parts = append(parts, "…")
			break
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
