package summary

import "strings"

// shortestStem is the number of bytes that must remain before an ending.
const shortestStem = 4

// endings are the endings that stem removes; the first that matches is used. With
// them "dividendos" equals "dividendo", and "aprobará" equals "aprobado".
var endings = strings.Fields(`
	amientos imientos amiento imiento aciones iciones acion icion uciones ucion
	adoras adores adora ador idades idad mente
	aremos eremos iremos ariamos ieron aron iendo ando
	ados adas idos idas ado ada ido ida
	arian erian irian aria eria iria aran eran iran ara era ira
	arse erse irse ar er ir io
	ciones cion siones sion
	an en as es os a e o s`)

// stem returns the common stem of the forms of a folded word.
func stem(word string) string {
	if len(word) <= shortestStem || isDigit(word[0]) {
		return word
	}
	for _, ending := range endings {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) >= shortestStem {
			return rest
		}
	}
	return word
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// stopWords are words without information about the topic of a sentence.
var stopWords = newLexicon(`
	a al algo ambas ambos ante antes aquel aquella aun aunque bajo cada como con contra cual cuales cuando cuya cuyo cuyas cuyos
	de del desde donde durante e el ella ellas ello ellos en entre era eran es esa esas ese eso esos esta estan estas este esto estos
	fue fueron ha haber habia han has hasta hay he la las le les lo los me mediante mientras mismo misma muy nos o os otra otras otro otros
	para pero por porque que quien quienes se sea sean segun ser sera seran si sido siendo sino sobre son su sus tal tales tambien tanto
	te tiene tienen toda todas todo todos tras u un una unas uno unos y ya asi dicho dicha dichos dichas
	presente siguiente siguientes mencionado mencionada citado citada respectivamente respecto frente
	s sa sl sau slu d dª don dona sr sra n num
	the of and to in for by with has have had will at on is are was were be been this that its it as from an or which their`)

// stems returns the set of the stems of a folded text, without stop words.
func stems(folded string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(folded) {
		if !stopWords.has(w) {
			set[stem(w)] = true
		}
	}
	return set
}

// shared returns the number of stems in both sets.
func shared(a, b map[string]bool) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	n := 0
	for s := range a {
		if b[s] {
			n++
		}
	}
	return n
}
