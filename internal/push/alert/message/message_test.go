package message_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"pregon/internal/disclosure"
	"pregon/internal/push/alert/message"
)

var links = message.Links{
	Site:    "https://pregon.example.com/",
	All:     "https://pregon.example.com/following",
	Confirm: "https://pregon.example.com/alerts/confirm?token=abc",
	Manage:  "https://pregon.example.com/account/alerts",
	End:     "https://pregon.example.com/alerts/end?token=abc",
}

var writer = message.Writer{BaseURL: "https://pregon.example.com"}

// dividend is a report with facts.
func dividend() *disclosure.Report {
	return &disclosure.Report{
		ID:          "oir-40374",
		Type:        disclosure.OIR,
		Number:      40374,
		CompanyName: "Aceros del Cantábrico, S.A.",
		NIF:         "A00000000",
		Title:       "[Simulación] Pago de dividendo a cuenta",
		PublishedAt: time.Date(2026, 11, 19, 9, 30, 12, 0, time.UTC),
		Facts: []disclosure.Fact{{
			Kind: disclosure.Dividend,
			Fields: map[string]string{
				"gross_per_share": "0.25",
				"currency":        "EUR",
				"ex_date":         "2026-12-15",
			},
		}},
	}
}

func itemOf(t *testing.T, c *disclosure.Change, issuer *disclosure.Issuer, language string) message.Item {
	t.Helper()
	item, ok := writer.Item(c, issuer, language)
	if !ok {
		t.Fatalf("no item of %s", c.Event)
	}
	return item
}

// A report as text in both languages: the words that a reader gets.
func TestText(t *testing.T) {
	issuer := &disclosure.Issuer{ID: "A00000000", Ticker: "ACC"}
	published := &disclosure.Change{Event: disclosure.Published, Report: dividend()}
	corrected := &disclosure.Change{Event: disclosure.Corrected, Report: dividend()}
	corrected.Report.CorrectedBy = "oir-40380"
	m := message.Message{
		Kind:     message.News,
		Language: message.Spanish,
		Items:    []message.Item{itemOf(t, published, issuer, "es")},
		More:     480,
		Links:    links,
	}
	want := `Datos simulados: ni las entidades ni los hechos son reales.

Aceros del Cantábrico, S.A. (ACC)
---------------------------------

[Simulación] Pago de dividendo a cuenta
Otra información relevante · 19 nov 2026, 10:30
0,25 € · ex 15 dic
https://pregon.example.com/reports/oir-40374?lang=es

y 480 más: https://pregon.example.com/following

` + "-- " + `
Recibe este mensaje por los avisos de una cuenta de Pregón. Las horas son de Madrid.
Gestionar los avisos: https://pregon.example.com/account/alerts
No recibir más mensajes aquí: https://pregon.example.com/alerts/end?token=abc
`
	if diff := cmp.Diff(want, m.Text()); diff != "" {
		t.Error(diff)
	}
	m = message.Message{
		Kind:     message.News,
		Language: message.English,
		Items:    []message.Item{itemOf(t, corrected, issuer, "en")},
		Links:    links,
	}
	want = `Simulated data: neither the companies nor the events are real.

Aceros del Cantábrico, S.A. (ACC)
---------------------------------

[Simulación] Pago de dividendo a cuenta
Corrected by OIR-40380 · Other relevant information · 19 Nov 2026, 10:30
€0.25 · ex 15 Dec
https://pregon.example.com/reports/oir-40374?lang=en

` + "-- " + `
You receive this message because of the alerts of an account at Pregón. Times are in Madrid.
Manage alerts: https://pregon.example.com/account/alerts
Stop all messages here: https://pregon.example.com/alerts/end?token=abc
`
	if diff := cmp.Diff(want, m.Text()); diff != "" {
		t.Error(diff)
	}
}

// Positions have their figures, and the names of legal persons only.
func TestPositions(t *testing.T) {
	issuer := &disclosure.Issuer{ID: "A00000000", Name: "Aceros del Cantábrico, S.A.", Ticker: "ACC"}
	for _, test := range []struct {
		name             string
		position         disclosure.Position
		spanish, english string // title and facts
	}{
		{
			"short",
			disclosure.Position{
				ID: "short-es0000000000-2026-11-18-1", Kind: disclosure.Short, Name: "Fondo Ejemplo LLP",
				Date: "2026-11-18", Percent: "0.52", State: disclosure.StateCurrent,
			},
			"Posición corta neta: Fondo Ejemplo LLP | 0,52 %",
			"Net short position: Fondo Ejemplo LLP | 0.52%",
		},
		{
			"holding of a natural person",
			disclosure.Position{
				ID: "holding-1", Kind: disclosure.Holding, Name: "PERSONA INVENTADA, ANA", Natural: true,
				RegisteredOn: "2026-11-18", Percent: "3.1", State: disclosure.StateEnded,
			},
			"Participación significativa | 3,1 % · ya no figura",
			"Significant holding | 3.1% · no longer listed",
		},
		{
			"own shares",
			disclosure.Position{
				ID: "own-shares-1", Kind: disclosure.OwnShares, Name: "Aceros del Cantábrico, S.A.",
				RegisteredOn: "2026-11-18", Percent: "1.02", State: disclosure.StateCurrent,
			},
			"Autocartera | 1,02 %",
			"Own shares | 1.02%",
		},
		{
			"dealing",
			disclosure.Position{
				ID: "dealing-1", Kind: disclosure.Dealing, Name: "PERSONA INVENTADA, ANA", Natural: true,
				RegisteredOn: "2026-11-18", Relation: disclosure.RelationAssociated,
				Trades: []disclosure.Trade{
					{Side: disclosure.Buy, Volume: "1000", Price: "12.5", Currency: "EUR"},
					{Side: disclosure.Sell, Volume: "10", Price: "12", Currency: "EUR"},
				},
			},
			"Operación de una persona vinculada a un directivo | compra 12.500 € · venta 120 €",
			"Dealing of a person closely associated with a manager | purchase €12,500 · sale €120",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for language, want := range map[string]string{"es": test.spanish, "en": test.english} {
				change := &disclosure.Change{Event: disclosure.PositionPublished, Position: &test.position}
				item := itemOf(t, change, issuer, language)
				if got := item.Title + " | " + item.Facts; got != want {
					t.Errorf("%s: %s, want %s", language, got, want)
				}
				m := message.Message{Kind: message.News, Language: language, Items: []message.Item{item}}
				if all := m.Text() + m.HTML() + m.Subject(); strings.Contains(all, "INVENTADA") {
					t.Errorf("a natural person is named in %s", all)
				}
				if !strings.Contains(m.Text(), "18 nov 2026") && !strings.Contains(m.Text(), "18 Nov 2026") {
					t.Errorf("the day is not in %s", m.Text())
				}
			}
		})
	}
	if _, ok := writer.Item(&disclosure.Change{Issuer: issuer}, issuer, "es"); ok {
		t.Error("a change of an issuer is an item")
	}
}

func TestSubject(t *testing.T) {
	item := func(issuer, title string, simulated bool) message.Item {
		return message.Item{
			Issuer:    message.Issuer{ID: issuer, Name: issuer},
			Title:     title,
			Simulated: simulated,
		}
	}
	alfa := item("Alfa", "Resultados", false)
	beta := item("Beta", "Otros", true)
	gamma := item("Gamma", "Otros", false)
	delta := item("Delta", "Otros", false)
	for _, test := range []struct {
		items            []message.Item
		more             int
		spanish, english string
	}{
		{[]message.Item{alfa}, 0, "Alfa: Resultados", "Alfa: Resultados"},
		{[]message.Item{beta}, 0, "[Simulación] Beta: Otros", "[Simulación] Beta: Otros"},
		{[]message.Item{alfa, alfa}, 0, "2 novedades: Alfa", "2 updates: Alfa"},
		{[]message.Item{alfa, beta}, 0, "[Simulación] 2 novedades: Alfa y Beta", "[Simulación] 2 updates: Alfa and Beta"},
		{[]message.Item{alfa, gamma, delta}, 0, "3 novedades: Alfa, Gamma y Delta", "3 updates: Alfa, Gamma and Delta"},
		{
			[]message.Item{alfa, gamma, delta, item("Épsilon", "x", false)},
			0, "4 novedades: Alfa, Gamma, Delta y otros", "4 updates: Alfa, Gamma, Delta and others",
		},
		{[]message.Item{alfa}, 499, "500 novedades: Alfa y otros", "500 updates: Alfa and others"},
		{nil, 3, "3 novedades", "3 updates"},
		{
			append(slices.Repeat([]message.Item{alfa}, 120), gamma),
			0, "121 novedades: Alfa y Gamma", "121 updates: Alfa and Gamma",
		},
		{
			[]message.Item{item("Alfa\r\nBcc: x@example.com", "A\u202eB\x00\n\tC", false)},
			0, "Alfa Bcc: x@example.com: AB C", "Alfa Bcc: x@example.com: AB C",
		},
	} {
		for language, want := range map[string]string{"es": test.spanish, "en": test.english} {
			m := message.Message{Kind: message.News, Language: language, Items: test.items, More: test.more}
			if got := m.Subject(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	}
	for _, kind := range []message.Kind{message.Confirmation, message.Test} {
		es := message.Message{Kind: kind, Language: "es", Links: links}
		en := message.Message{Kind: kind, Language: "en", Links: links}
		if es.Subject() == en.Subject() || es.Text() == en.Text() || es.HTML() == en.HTML() {
			t.Errorf("%s is the same in both languages", kind)
		}
		if has := strings.Contains(es.Text(), links.Confirm); has != (kind == message.Confirmation) {
			t.Errorf("%s has the link to confirm: %v", kind, has)
		}
	}
}

// hostile are texts of strangers.
var hostile = []string{
	"<script>alert(1)</script>",
	"\"><img src=x onerror=alert(1)>",
	"</title></a><b>bold</b>",
	"*bold* _italic_ ~strike~ `code` [link](https://evil.example.com) <!channel> @everyone @all",
	"line\r\nBcc: victim@example.com\r\n\r\nbody",
	"right\u202eleft \u200bzero \x00 null \x1b[31m red",
	"\xff\xfe invalid",
	"javascript:alert(1)",
	strings.Repeat("𝔘", 5000),
	strings.Repeat("<&\"'>", 2000),
	"{{.}} ${x} %s %d",
	"",
}

// hostileMessage has a text in every field that may be a stranger's.
func hostileMessage(text string, items int) *message.Message {
	m := &message.Message{Kind: message.News, Language: "es", Links: links}
	for i := range items {
		m.Items = append(m.Items, message.Item{
			Issuer:    message.Issuer{ID: fmt.Sprint(i % 7), Name: text, Ticker: text},
			Label:     text,
			Title:     text,
			Facts:     text,
			Note:      text,
			At:        time.Date(2026, 11, 19, 9, 30, 0, 0, time.UTC),
			URL:       text,
			Simulated: i%2 == 0,
		})
	}
	return m
}

// checkForms checks the bounds of all forms, and that HTML has only our elements.
func checkForms(t *testing.T, m *message.Message) {
	t.Helper()
	subject := m.Subject()
	if strings.ContainsFunc(subject, unicode.IsControl) || utf8.RuneCountInString(subject) > 161 {
		t.Errorf("the subject is %q", subject)
	}
	for form, s := range map[string]string{"text": m.Text(), "HTML": m.HTML()} {
		if len(s) > 90<<10 || !utf8.ValidString(s) {
			t.Errorf("the %s has %d bytes", form, len(s))
		}
		control := func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == '\u202e' || r == '\u200b' }
		if strings.ContainsFunc(s, control) {
			t.Errorf("the %s has characters that are not visible: %q", form, s)
		}
	}
	checkHTML(t, m.HTML())
	for _, e := range m.Entries(len(m.Items)) {
		if detail := e.Detail(); strings.ContainsFunc(detail+e.Title+e.Issuer, unicode.IsControl) {
			t.Errorf("an entry is not on one line: %q", detail)
		}
	}
}

func checkHTML(t *testing.T, page string) {
	t.Helper()
	allowed := "!doctype html head meta title body div p h2 a strong hr"
	tokens := html.NewTokenizer(strings.NewReader(page))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			if !strings.Contains(" "+allowed+" ", " "+token.Data+" ") {
				t.Errorf("the page has the element %s", token.Data)
			}
			for _, a := range token.Attr {
				ours := strings.HasPrefix(a.Val, "https://pregon.example.com") || a.Val == "#ZgotmplZ"
				switch {
				case strings.HasPrefix(a.Key, "on") || a.Key == "src":
					t.Errorf("the page has the attribute %s", a.Key)
				case a.Key == "href" && !ours && !strings.HasPrefix(a.Val, "https://"):
					t.Errorf("the page links to %q", a.Val)
				case a.Key == "style" && (strings.Contains(a.Val, "url(") || strings.Contains(a.Val, "color")):
					t.Errorf("the page has the style %q", a.Val)
				}
			}
		}
	}
}

func TestHostileTexts(t *testing.T) {
	for _, text := range hostile {
		for _, items := range []int{0, 1, 3, 600} {
			checkForms(t, hostileMessage(text, items))
		}
	}
}

func FuzzForms(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkForms(t, hostileMessage(text, 2))
	})
}

// A message of many items is a digest with sections, and says how many are missing.
func TestDigest(t *testing.T) {
	m := &message.Message{Kind: message.News, Language: "en", Links: links}
	for i := range 580 {
		m.Items = append(m.Items, message.Item{
			Issuer: message.Issuer{ID: fmt.Sprint(i % 3), Name: fmt.Sprintf("Issuer %d", i%3)},
			Title:  fmt.Sprintf("Title %d", i),
			URL:    fmt.Sprintf("https://pregon.example.com/reports/oir-%d", i),
		})
	}
	text, page := m.Text(), m.HTML()
	for _, want := range []string{"and 480 more: " + links.All, "Issuer 0\n--------\n\nTitle 0\n", "Title 99\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not have %q", want)
		}
	}
	if strings.Count(text, "Issuer 0\n") != 1 || strings.Contains(text, "Title 100\n") {
		t.Error("the text has an issuer twice, or too many items")
	}
	if strings.Count(page, "<h2") != 3 || !strings.Contains(page, "and 480 more") {
		t.Error("the page does not have three sections and the rest")
	}
}

func TestFit(t *testing.T) {
	m := hostileMessage("x", 40)
	for _, test := range []struct{ limit, fits, want int }{
		{10, 100, 10},
		{100, 100, 40},
		{100, 7, 7},
		{100, 0, 0},
		{-1, 100, 0},
	} {
		got := m.Fit(test.limit, func(n int) bool { return n <= test.fits })
		if got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}
