// Package search finds the reports and issuers that match a search text.
//
// Text is analysed the same way on both sides. Words are runs of letters and
// digits, in lower case, without accents (ñ is n), initials joined (S.A. is
// sa). Two words are the same if their stems are. A stem is only the word without
// its plural and gender ending, so that "dividendos" finds "dividendo".
//
// The query language follows. A text without any word matches nothing.
//
//	banco dividendo     every word must be there, in any order and any field
//	divid               the last word also matches the beginning of a word
//	"junta general"     exactly these words, adjacent
//	-fondo -"sin efecto"  must not be there
//	A-69000016          a NIF, an ISIN, an LEI, a report's id: matched whole
//	40374               typed alone, also a registration number
//
// Legal forms (S.A., S.L.) are ignored beside other words. The search covers the
// company's name, the ticker, the title, the categories and the summary.
package search
