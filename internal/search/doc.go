// Package search decides which reports and issuers a reader's words mean.
//
// Text is analysed the same way on both sides. Words are runs of letters and
// digits, in lower case, without accents (ñ is n), initials joined (S.A. is
// sa). Two words are the same when their stems are, and a stem here is no more
// than the word without its plural and gender ending, so that "dividendos"
// finds "dividendo" and nothing stranger.
//
// The language; a text without any word matches nothing:
//
//	banco dividendo     every word must be there, in any order and any field
//	divid               the last word also matches the beginning of a word
//	"junta general"     these words, exactly, side by side
//	-fondo -"sin efecto"  must not be there
//	A-69000016          a NIF, an ISIN, a report's id: matched whole
//	40374               typed alone, also a registration number
//
// Legal forms (S.A., S.L.) never hide a match: beside other words they are
// passed over. Searched are the company's name, the ticker, the title, the
// categories and the summary.
package search
