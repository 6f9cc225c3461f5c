package fact

import (
	"strings"

	"pregon/internal/document/value"
)

// Companies of other countries give the hour of their own zone: "10.00 a.m. (London time)". The hour of
// a fact is that of Madrid, whose clocks change on the same days as those of the zones below.

// zoneShifts are the hours from a zone to that of Madrid.
var zoneShifts = map[string]int{
	"madrid":     0,
	"peninsular": 0,
	"espanola":   0,
	"spanish":    0,
	"spain":      0,
	"european":   0, // Central European time
	"paris":      0,
	"amsterdam":  0,
	"brussels":   0,
	"frankfurt":  0,
	"luxembourg": 0,
	"luxemburgo": 0,
	"barcelona":  0,
	"bilbao":     0,
	"cet":        0,
	"cest":       0,
	"london":     1,
	"londres":    1,
	"lisbon":     1,
	"lisboa":     1,
	"dublin":     1,
	"uk":         1,
	"british":    1,
	"canaria":    1,
	"canarias":   1,
	"insular":    1,
	"bst":        1,
	"west":       1,
}

// zone reads the zone of an hour that ends at a token: "(London time)", "hora peninsular", "CET". It
// returns the hours from it to that of Madrid and the token behind it, and reports whether the zone,
// if one is given, is known.
func (p *part) zone(end int) (shift, behind int, ok bool) {
	from := end
	mark := p.mark(from)
	if mark == "(" || mark == "," {
		from++
	}
	to := p.endOfZone(from)
	if to == from {
		return 0, end, true
	}
	ok = false
	for i := from; i < to && !ok; i++ {
		shift, ok = zoneShifts[p.word(i)]
	}
	if mark == "(" && p.mark(to) == ")" {
		to++
	}
	return shift, to, ok
}

// isAbroad reports whether the company of the report is one of a country with another hour, by its legal
// form. Its notices give the hour of that country without saying so.
func (r *reading) isAbroad() bool {
	name := value.Tokenise(r.Company)
	for i := len(name) - 1; i >= max(0, len(name)-2); i-- {
		switch strings.ToLower(name[i].Text) {
		case "plc", "ltd", "limited", "inc", "corp", "corporation", "incorporated", "lda", "sgps":
			return true
		}
	}
	return false
}

// namesZone reports whether a part names a zone that is known.
func (p *part) namesZone() bool {
	for i := range p.tokens {
		if _, behind, ok := p.zone(i); ok && behind > i {
			return true
		}
	}
	return false
}

// endOfZone returns the end of the words that name a zone, or the token itself.
func (p *part) endOfZone(from int) int {
	const longest = 4 // words: "Central European Summer Time"
	switch p.word(from) {
	case "hora", "horario":
		return p.endOfZoneInSpanish(from + 1)
	case "cet", "cest", "bst", "gmt", "utc", "wet", "west", "est", "edt", "eet":
		return from + 1
	}
	if from >= len(p.tokens) || !p.tokens[from].IsCapital() && p.word(from) != "local" {
		return from
	}
	for i := from + 1; i < from+longest && p.word(i) != ""; i++ {
		if p.word(i) == "time" {
			return i + 1
		}
	}
	return from
}

// endOfZoneInSpanish returns the end of the zone behind "hora": "peninsular española", "de Londres",
// "local". It returns the token of "hora" if no zone follows.
func (p *part) endOfZoneInSpanish(i int) int {
	none := i - 1
	switch p.word(i) {
	case "de", "en", "del":
		i++
		if i < len(p.tokens) && p.tokens[i].IsCapital() {
			return i + 1
		}
		return none
	case "local":
		return i + 1
	}
	for _, known := zoneShifts[p.word(i)]; known; _, known = zoneShifts[p.word(i)] {
		i++
		none = i
	}
	return none
}
