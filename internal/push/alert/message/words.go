package message

import (
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/text"
)

// say returns the text in the language.
func say(language, spanish, english string) string {
	if language == Spanish {
		return spanish
	}
	return english
}

func (m *Message) say(spanish, english string) string { return say(m.Language, spanish, english) }

func typeInWords(t disclosure.Type, language string) string {
	switch t {
	case disclosure.IP:
		return say(language, "Información privilegiada", "Inside information")
	case disclosure.OIR:
		return say(language, "Otra información relevante", "Other relevant information")
	case disclosure.HR:
		return say(language, "Hecho relevante", "Significant event")
	}
	return string(t)
}

func registerInWords(k disclosure.PositionKind, language string) string {
	switch k {
	case disclosure.Short:
		return say(language, "Posiciones cortas", "Short positions")
	case disclosure.Holding:
		return say(language, "Participaciones significativas", "Significant holdings")
	case disclosure.OwnShares:
		return say(language, "Autocartera", "Own shares")
	case disclosure.Dealing:
		return say(language, "Operaciones de directivos", "Managers’ dealings")
	}
	return string(k)
}

func registerPath(k disclosure.PositionKind) string {
	switch k {
	case disclosure.Holding:
		return "/holdings"
	case disclosure.OwnShares:
		return "/own-shares"
	case disclosure.Dealing:
		return "/dealings"
	}
	return "/shorts"
}

func sideInWords(s disclosure.Side, language string) string {
	switch s {
	case disclosure.Buy:
		return say(language, "compra", "purchase")
	case disclosure.Sell:
		return say(language, "venta", "sale")
	}
	return say(language, "otras operaciones", "other transactions")
}

// stateInWords returns what the register says of a position that is not in its present
// table, or "".
func stateInWords(s disclosure.PositionState, language string) string {
	switch s {
	case disclosure.StatePast:
		return say(language, "sustituida", "replaced")
	case disclosure.StateEnded:
		return say(language, "ya no figura", "no longer listed")
	case disclosure.StateClosed:
		return say(language, "cerrada", "closed")
	case disclosure.StateRectified:
		return say(language, "rectificada", "rectified")
	case disclosure.StateAnnulled:
		return say(language, "anulada", "annulled")
	}
	return ""
}

var (
	spanishMonths = [12]string{"ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sep", "oct", "nov", "dic"}
	englishMonths = [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
)

// when writes a time in Madrid, or the day if the time is not exact.
func when(t time.Time, exact bool, language string) string {
	if t.IsZero() {
		return ""
	}
	t = t.In(disclosure.Madrid)
	months := &englishMonths
	if language == Spanish {
		months = &spanishMonths
	}
	out := strconv.Itoa(t.Day()) + " " + months[t.Month()-1] + " " + strconv.Itoa(t.Year())
	if exact {
		out += ", " + t.Format("15:04")
	}
	return out
}

// The longest texts in an entry, in characters.
const (
	maxName  = 120
	maxTitle = 300
	maxFacts = 200
	maxURL   = 1000
)

// maxRatio bounds the bytes of a text that are read, for each character that is shown.
const maxRatio = 16

// clean returns a text on one line, without characters that are not visible, and not
// longer than a number of characters.
func clean(s string, longest int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
			return ' '
		case text.Invisible(r), r == '\ufffd':
			return -1
		}
		return r
	}, strings.ToValidUTF8(text.Prefix(s, longest*maxRatio), ""))
	return text.Clip(strings.Join(strings.Fields(s), " "), longest)
}

// address returns an address that can be shown and followed, or "".
func address(s string) string {
	if len(s) > maxURL || clean(s, maxURL) != s || strings.ContainsAny(s, " \"<>\\`{}|^") {
		return ""
	}
	if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
		return ""
	}
	return s
}
