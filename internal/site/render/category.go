package render

import "pregon/internal/disclosure"

// Category returns the name of a category in the language of the edition.
func (e Edition) Category(name string) string {
	if e.Language != English {
		return name
	}
	english, _ := disclosure.CategoryEN(name)
	return english
}

// CategoryCondition returns what a filter has as its category in the language of the
// edition. That may be words of a name, which are shown as they are.
func (e Edition) CategoryCondition(value string) string {
	if english, known := disclosure.CategoryEN(value); known && e.Language == English {
		return english
	}
	return value
}
