package message

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Entry is an item in the words of a message. Its texts are clean but not escaped.
type Entry struct {
	Issuer string // its name, with the ticker
	Title  string // with SimulatedPrefix if it is simulated
	Label  string
	When   string
	Facts  string
	Note   string
	URL    string // or ""

	issuer string // the same for the same issuer
}

// Detail returns all but issuer and title, on one line.
func (e *Entry) Detail() string {
	return joined(" · ", e.Note, e.Label, e.When, e.Facts)
}

// joined joins the texts that are not empty.
func joined(separator string, texts ...string) string {
	var some []string
	for _, t := range texts {
		if t != "" {
			some = append(some, t)
		}
	}
	return strings.Join(some, separator)
}

// Section has entries of one issuer.
type Section struct {
	Issuer  string
	Entries []Entry
}

// Link is a line of a message that leads to an address.
type Link struct {
	Text string
	URL  string
}

// Entries returns the first n items in the words of the message, at most MaxItems.
func (m *Message) Entries(n int) []Entry {
	n = max(0, min(n, MaxItems, len(m.Items)))
	out := make([]Entry, n)
	for i := range out {
		out[i] = m.entry(&m.Items[i])
	}
	return out
}

func (m *Message) entry(item *Item) Entry {
	title := clean(strings.TrimPrefix(item.Title, SimulatedPrefix), maxTitle)
	if item.Simulated {
		title = SimulatedPrefix + title
	}
	return Entry{
		Issuer: issuerInWords(item.Issuer, maxName),
		Title:  cmp.Or(title, m.say("Sin título", "Untitled")),
		Label:  clean(item.Label, maxName),
		When:   when(item.At, item.Exact, m.Language),
		Facts:  clean(item.Facts, maxFacts),
		Note:   clean(item.Note, maxName),
		URL:    address(item.URL),
		issuer: item.Issuer.key(),
	}
}

// key is the same for the same issuer.
func (i Issuer) key() string { return cmp.Or(i.ID, i.Name) }

// issuerInWords returns the name of an issuer and its ticker.
func issuerInWords(i Issuer, longest int) string {
	name := clean(i.Name, longest)
	ticker := clean(i.Ticker, maxTicker)
	switch {
	case ticker == "":
		return name
	case name == "":
		return ticker
	}
	return name + " (" + ticker + ")"
}

const maxTicker = 12

// Sections returns the first n items by issuer. Issuers are in the order of their first
// items.
func (m *Message) Sections(n int) []Section {
	var out []Section
	places := map[string]int{}
	for _, e := range m.Entries(n) {
		place, known := places[e.issuer]
		if !known {
			place = len(out)
			places[e.issuer] = place
			out = append(out, Section{Issuer: e.Issuer})
		}
		out[place].Entries = append(out[place].Entries, e)
	}
	return out
}

// Fit returns the largest number of items, up to a limit, that a form can hold. fits
// must be true for every smaller number, too.
func (m *Message) Fit(limit int, fits func(n int) bool) int {
	low := 0
	high := max(0, min(limit, MaxItems, len(m.Items)))
	if fits(high) {
		return high // as for most messages
	}
	high--
	for low < high {
		middle := (low + high + 1) / 2
		if fits(middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return max(0, low)
}

// Rest returns the line about the events that a form with n items does not show, such as
// "and 480 more". ok is false if there are none.
func (m *Message) Rest(n int) (rest Link, ok bool) {
	missing := m.Total() - n
	if missing <= 0 || m.Kind != News {
		return Link{}, false
	}
	text := fmt.Sprintf(m.say("y %d más", "and %d more"), missing)
	if n == 0 {
		text = m.count(missing)
	}
	return Link{
		Text: text,
		URL:  address(cmp.Or(m.Links.All, m.Links.Site)),
	}, true
}

// count returns a number of events in words.
func (m *Message) count(n int) string {
	if n == 1 {
		return m.say("1 novedad", "1 update")
	}
	return strconv.Itoa(n) + m.say(" novedades", " updates")
}

// Notice returns the warning that the message has simulated data, or "".
func (m *Message) Notice() string {
	if !m.Simulated() {
		return ""
	}
	return m.say(
		"Datos simulados: ni las entidades ni los hechos son reales.",
		"Simulated data: neither the companies nor the events are real.",
	)
}

// Paragraphs returns the text of a message that has no news.
func (m *Message) Paragraphs() []string {
	switch m.Kind {
	case Confirmation:
		return []string{
			m.say(
				"Alguien, quizá usted, ha pedido que Pregón envíe aquí avisos de lo que comunican a la CNMV los emisores españoles.",
				"Someone, perhaps you, asked Pregón to send alerts here about what Spanish issuers disclose to the CNMV.",
			),
			m.say(
				"Si los quiere recibir, confírmelo en la página del enlace.",
				"To receive them, confirm on the page behind the link.",
			),
			m.say(
				"Si no los ha pedido, no haga nada: sin confirmación no se envía ninguno.",
				"If you did not ask for them, do nothing: no alerts are sent without a confirmation.",
			),
		}
	case Test:
		return []string{
			m.say(
				"Este mensaje comprueba que los avisos de Pregón llegan aquí. No tiene que hacer nada.",
				"This message checks that alerts from Pregón arrive here. You need not do anything.",
			),
		}
	}
	return nil
}

// Action returns what the message asks for, if anything.
func (m *Message) Action() (action Link, ok bool) {
	if m.Kind != Confirmation || address(m.Links.Confirm) == "" {
		return Link{}, false
	}
	return Link{
		Text: m.say("Confirmar", "Confirm"),
		URL:  address(m.Links.Confirm),
	}, true
}

// Target returns the address that the message as a whole links to, or "".
func (m *Message) Target() string {
	if action, ok := m.Action(); ok {
		return action.URL
	}
	if m.Total() == 1 && len(m.Items) == 1 && address(m.Items[0].URL) != "" {
		return m.Items[0].URL
	}
	return address(cmp.Or(m.Links.All, m.Links.Site))
}

// Footer returns the links for changing or ending the alerts.
func (m *Message) Footer() []Link {
	var out []Link
	add := func(text, link string) {
		if link = address(link); link != "" {
			out = append(out, Link{Text: text, URL: link})
		}
	}
	add(m.say("Gestionar los avisos", "Manage alerts"), m.Links.Manage)
	add(m.say("No recibir más mensajes aquí", "Stop all messages here"), m.Links.End)
	return out
}

// reason returns the sentence that explains why the reader receives the message.
func (m *Message) reason() string {
	if m.Kind != News {
		return ""
	}
	return m.say(
		"Recibe este mensaje por los avisos de una cuenta de Pregón. Las horas son de Madrid.",
		"You receive this message because of the alerts of an account at Pregón. Times are in Madrid.",
	)
}

// Sizes of subjects, in characters.
const (
	maxSubject      = 160
	maxSubjectName  = 48
	namesInASubject = 3
)

// Subject returns what the message is about, on one line.
func (m *Message) Subject() string {
	switch m.Kind {
	case Confirmation:
		return m.say("Confirme que quiere recibir avisos de Pregón", "Confirm that you want alerts from Pregón")
	case Test:
		return m.say("Mensaje de prueba de Pregón", "Test message from Pregón")
	}
	prefix := ""
	if m.Simulated() {
		prefix = SimulatedPrefix
	}
	if m.Total() == 1 && len(m.Items) == 1 {
		e := m.entry(&m.Items[0])
		issuer := issuerInWords(m.Items[0].Issuer, maxSubjectName)
		title := strings.TrimPrefix(e.Title, SimulatedPrefix)
		return clean(prefix+joined(": ", issuer, title), maxSubject)
	}
	return clean(prefix+joined(": ", m.count(m.Total()), m.names()), maxSubject)
}

// Brief returns the number of events, for titles that are too short for the subject.
func (m *Message) Brief() string {
	if m.Kind != News {
		return m.Subject()
	}
	if m.Simulated() {
		return SimulatedPrefix + m.count(m.Total())
	}
	return m.count(m.Total())
}

// names returns the names of the first issuers of the message.
func (m *Message) names() string {
	var names []string
	seen := map[string]bool{}
	more := m.More > 0
	for i := range m.Items {
		issuer := m.Items[i].Issuer
		if key := issuer.key(); !seen[key] {
			seen[key] = true
			if len(names) == namesInASubject {
				more = true
				break
			}
			names = append(names, issuerInWords(issuer, maxSubjectName))
		}
	}
	and := m.say(" y ", " and ")
	switch {
	case len(names) == 0:
		return ""
	case more:
		return strings.Join(names, ", ") + and + m.say("otros", "others")
	case len(names) == 1:
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + and + names[last]
}
