package fact

import "slices"

// revokedCall returns the part that says that the call of the meeting is no longer valid,
// or -1: "dejar sin efecto dicha convocatoria". Then only what is called anew counts.
func (r *reading) revokedCall() int {
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.isLong() {
			continue
		}
		for _, c := range p.all("call revoked") {
			const near = 3 // "sin efecto la citada convocatoria"
			if p.hasBetween(c.to, c.to+near, "meeting word") || p.word(c.from) == "desconvocar" {
				return i
			}
		}
	}
	return -1
}

// callsAnew returns the calls of a sentence that revokes a call and makes a new one.
func (r *reading) callsAnew(i int) []meetingCall {
	p := &r.parts[i]
	anew, ok := lastCue(p.all("called anew"), 0, len(p.tokens))
	revoked, _ := lastCue(p.all("not called", "call revoked"), 0, len(p.tokens))
	if !ok || anew.from < revoked.from || p.word(anew.from-1) == "hasta" || p.cells != nil || r.namesOther(p) {
		return nil
	}
	return r.callsOfSentence(i, anew.to)
}

// isNotCalled reports whether a sentence says that the meeting is not called yet, or no
// more. A supplement is published "a solicitud de" a shareholder when it is called.
func (p *part) isNotCalled() bool {
	return slices.ContainsFunc(p.longest("not called", "adjourned meeting"), func(c cue) bool {
		if c.class == "adjourned meeting" { // the second call of a meeting of noteholders
			return false
		}
		before, behind := p.word(c.from-1), p.word(c.to)
		asked := (before == "a" || before == "the") && (behind == "de" || behind == "del" || behind == "of") &&
			p.has("called", "supplement")
		return !asked
	})
}

// callsBoard reports whether the words before the first date of a sentence call the board and not the
// shareholders: "el Consejo de Administración ha sido convocado para el 9 de junio".
func (p *part) callsBoard(from, day int) bool {
	const near = 8
	if p.hasBetween(from, day, "general body") {
		return false
	}
	for i := from; i < day; i++ {
		switch p.word(i) {
		case "consejo", "board", "consell", "comite", "comision", "committee", "patronato":
		default:
			continue
		}
		for k := i + 1; k < min(day, i+near); k++ {
			switch p.word(k) {
			case "sido", "reunira", "reuniran", "reune", "convocado", "convocada", "meet", "meets", "been", "reunirse", "celebrara", "celebrar":
				return true
			}
		}
	}
	return false
}

// isOnlyPlanned reports whether a sentence says that a meeting is planned, and not that it is called:
// "la Sociedad prevé celebrar su Junta el 28 de mayo". In a notice the same words say at which call
// the meeting is expected to be held: "quedan convocados …, previéndose celebrar en segunda".
func (p *part) isOnlyPlanned() bool {
	const near = 3
	for i := range p.tokens {
		switch p.word(i) {
		case "tendria", "celebraria", "convocaria", "would":
			if !p.hasBetween(0, i, "called", "first call", "second call") && p.nextDate(0) > i {
				return true
			}
		}
	}
	for _, c := range p.all("planned", "possible") {
		holds := -1
		if w := p.word(c.to); w == "que" || w == "that" {
			holds = c.to // "está previsto que la Junta se celebre el 28 de mayo"
		}
		for i := c.to; i < c.to+near && holds < 0; i++ {
			switch p.word(i) {
			case "celebrar", "celebrarla", "celebracion", "convocar", "convocatoria", "hold", "convene", "call", "reunir":
				holds = i
			}
		}
		if holds < 0 || p.hasBetween(0, c.from, "called", "first call", "second call") || p.nextDate(0) < c.from {
			continue
		}
		if !p.hasBetween(holds, holds+2, "first call", "second call") &&
			p.hasBetween(holds, p.nextDate(holds), "general body") {
			return true
		}
	}
	return false
}
