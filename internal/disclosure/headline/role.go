package headline

import (
	"strings"

	"pregon/internal/text"
)

// A fact has the post of a person in the words of the document. These are usual posts in
// Spanish and in Catalan, folded, and their English names. A post that is not in these
// tables is quoted.
var (
	spanishPosts = map[string]string{
		"consejera coordinadora":              "lead independent director",
		"consejera delegada":                  "chief executive officer",
		"consejera dominical":                 "proprietary director",
		"consejera ejecutiva":                 "executive director",
		"consejera independiente":             "independent director",
		"consejera":                           "director",
		"consejero coordinador":               "lead independent director",
		"consejero delegado":                  "chief executive officer",
		"consejero dominical":                 "proprietary director",
		"consejero ejecutivo":                 "executive director",
		"consejero independiente coordinador": "lead independent director",
		"consejero independiente":             "independent director",
		"consejero":                           "director",
		"director financiero":                 "chief financial officer",
		"director general":                    "general manager",
		"directora financiera":                "chief financial officer",
		"directora general":                   "general manager",
		"presidenta del consejo":              "chair of the board",
		"presidenta ejecutiva":                "executive chair",
		"presidenta no ejecutiva":             "non-executive chair",
		"presidenta":                          "chair",
		"presidente del consejo":              "chair of the board",
		"presidente ejecutivo":                "executive chair",
		"presidente no ejecutivo":             "non-executive chair",
		"presidente":                          "chair",
		"secretaria del consejo":              "secretary of the board",
		"secretaria no consejera":             "non-director secretary",
		"secretaria":                          "secretary",
		"secretario del consejo":              "secretary of the board",
		"secretario no consejero":             "non-director secretary",
		"secretario":                          "secretary",
		"vicepresidenta":                      "vice chair",
		"vicepresidente":                      "vice chair",
		"vicesecretaria no consejera":         "non-director vice secretary",
		"vicesecretario no consejero":         "non-director vice secretary",
	}
	catalanPosts = map[string]string{
		"conseller delegat":        "chief executive officer",
		"conseller dominical":      "proprietary director",
		"conseller executiu":       "executive director",
		"conseller independent":    "independent director",
		"consellera delegada":      "chief executive officer",
		"consellera dominical":     "proprietary director",
		"consellera executiva":     "executive director",
		"consellera independent":   "independent director",
		"director financer":        "chief financial officer",
		"directora financera":      "chief financial officer",
		"president no executiu":    "non-executive chair",
		"presidenta no executiva":  "non-executive chair",
		"secretari no conseller":   "non-director secretary",
		"secretaria no consellera": "non-director secretary",
	}
)

// roleInSpanish returns the post of a person. Posts in other languages are quoted:
// their Spanish names depend on whether the person is a man or a woman.
func (v *values) roleInSpanish() string {
	role := v.name("role")
	if _, ok := spanishPosts[text.Fold(role)]; ok {
		return role
	}
	return affix("«", role, "»")
}

// roleInEnglish returns the post of a person.
func (v *values) roleInEnglish() string {
	role := v.name("role")
	folded := text.Fold(role)
	if name, ok := spanishPosts[folded]; ok {
		return name
	}
	if name, ok := catalanPosts[folded]; ok {
		return name
	}
	for _, name := range spanishPosts {
		if strings.EqualFold(name, role) {
			return name
		}
	}
	return affix("“", role, "”")
}
