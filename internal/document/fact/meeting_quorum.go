package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/value"
)

// secondCallOnly returns the second call of a sentence that says that the first one has failed: "no
// habiéndose alcanzado el quórum en primera convocatoria, la junta se celebrará en segunda
// convocatoria el 17 de junio". It reports whether the sentence says so.
func (r *reading) secondCallOnly(i int, dates []*value.Value, names []callName) ([]meetingCall, bool) {
	p := &r.parts[i]
	failed, ok := p.missesQuorum()
	if !ok {
		return nil, false
	}
	coming := slices.DeleteFunc(slices.Clone(dates), func(v *value.Value) bool {
		day, _ := date(v)
		return !r.isWithin(day, 1, 60)
	})
	named := slices.ContainsFunc(names, func(n callName) bool { return n.second && n.from > failed })
	called := p.hasBetween(failed, len(p.tokens), "called later") || p.meetsAgain(failed)
	if len(coming) != 1 || coming[0].From < failed || !named || !called {
		return nil, false
	}
	wasHeld := slices.ContainsFunc(names, func(n callName) bool { return n.second && p.isHeldMeeting(n) })
	if wasHeld || p.hasBetween(failed, coming[0].From, "payment", "ex date", "record date") {
		return nil, true
	}
	calls := []meetingCall{r.callAt(i, coming[0], true)}
	r.setHours(p, coming[0].From, coming, calls)
	return calls, true
}

// missesQuorum reports whether a sentence begins with what a meeting lacked, and returns the token
// behind it.
func (p *part) missesQuorum() (behind int, ok bool) {
	const near = 8 // "no haberse alcanzado hoy el quórum"
	for i := range p.tokens {
		if p.word(i) != "quorum" {
			continue
		}
		for k := i - 1; k >= max(0, i-near); k-- {
			switch p.word(k) {
			case "no", "not", "falta", "lack", "insuficiente":
				return i + 1, !p.saysCondition(k)
			}
		}
	}
	return 0, false
}

// saysCondition reports whether a denial is a condition of what may come: "de no alcanzarse el quórum",
// "si no se alcanzara".
func (p *part) saysCondition(no int) bool {
	switch p.word(no - 1) {
	case "de", "si", "caso", "if", "que", "should", "does", "is":
		return true
	}
	next := p.word(no + 1)
	isPast := strings.HasPrefix(next, "haber") || strings.HasPrefix(next, "habiendo") ||
		strings.HasPrefix(next, "having")
	return p.word(no) == "no" && !isPast
}

// meetsAgain reports whether a verb behind a token says that a meeting comes together.
func (p *part) meetsAgain(from int) bool {
	for i := from; i < len(p.tokens); i++ {
		switch p.word(i) {
		case "reunira", "celebrara", "constituira":
			return true
		}
	}
	return false
}
