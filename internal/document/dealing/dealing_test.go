package dealing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/document/dealing"
	"pregon/internal/sim/paper/notice"
	"pregon/internal/sim/paper/notice/noticetest"
)

// The lines of a notice, as the extraction gives them.
const (
	form = `MODELO DE NOTIFICACIÓN Y PUBLICACIÓN DE LAS OPERACIONES

STANDARD FORM FOR NOTIFICATION AND PUBLIC DISCLOSURE OF TRANSACTIONS

1 DATOS DE LA PERSONA / DETAILS OF THE PERSON

a) Nombre y apellidos - Razón social / Name

Lorenza Casquero Olmo

2 MOTIVO DE LA NOTIFICACIÓN / REASON FOR THE NOTIFICATION

[ √ ] Persona con responsabilidad de dirección / Person discharging managerial responsibilities

[ ] Persona estrechamente vinculada / Person closely associated

a) Cargo - posición / Position - status

Consejera

b) Notificación inicial - Modificación / Initial notification - Amendment

Inicial

3 DATOS DEL EMISOR / DETAILS OF THE ISSUER

a) Identificación / Name

ACERÍAS FICTICIAS DEL NERVA, S.A.

b) LEI:

9598FICTICIA00000141

4 DATOS DE LA OPERACIÓN U OPERACIONES / DETAILS OF THE TRANSACTION(S)

`
	heads = "4.a) Código\t4.b) Naturaleza\t4.c) Naturaleza\t4.d) Fecha\t4.e) Lugar\t4.f) Volumen\t4.g) Precio\t4.h) Divisa\n\n"
	first = "ES01SIM99017\tAcción\tCompra\t17/09/2026\tXMAD\t6000,00\t2,85\tEUR\n\n"
	sum   = "Total Agregado / Aggregated information\n\n6000,00\t2,85\n\n"
	end   = "Otra información / Additional information\n\nNo aplica\n"
	whole = form + heads + first + sum + end
)

func firstTrade() disclosure.Trade {
	return disclosure.Trade{
		ISIN:       "ES01SIM99017",
		Instrument: "Acción",
		Nature:     "Compra",
		Side:       disclosure.Buy,
		Date:       "2026-09-17",
		Venue:      "XMAD",
		Volume:     "6000",
		Price:      "2.85",
		Currency:   "EUR",
		Page:       1,
		Quote:      "ES01SIM99017 Acción Compra 17/09/2026 XMAD 6000,00 2,85 EUR",
	}
}

func TestRead(t *testing.T) {
	got, err := dealing.Read([]string{whole})
	if err != nil {
		t.Fatal(err)
	}
	want := dealing.Notice{
		Person: "Lorenza Casquero Olmo",
		Role:   "Consejera",
		Issuer: "ACERÍAS FICTICIAS DEL NERVA, S.A.",
		LEI:    "9598FICTICIA00000141",
		Trades: []disclosure.Trade{firstTrade()},
		Totals: []dealing.Total{{From: 0, To: 1, Volume: "6000", Price: "2.85", Agrees: true}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Aggregates() != disclosure.SumsAgree {
		t.Errorf("got %q, want that the sums agree", got.Aggregates())
	}
}

// TestRows reads one row in many spellings. A trade without a volume is refused.
func TestRows(t *testing.T) {
	const prefix = "ES01SIM99017\tAcción\t"
	const rest = "\t17/09/2026\tXMAD\t6000,00\t2,85\tEUR"
	for name, test := range map[string]struct {
		row                               string
		instrument, nature, volume, price string
		side                              disclosure.Side
		refused                           bool
	}{
		"spaces in place of tabs": {
			row:    "ES01SIM99017 Acción Venta 17/09/2026 XMAD 6000,00 2,85 EUR",
			nature: "Venta",
			side:   disclosure.Sell,
		},
		"touching currency": {
			row:    prefix + "Venta\t17/09/2026\tXMAD\t6000,00\t2,85 EUR",
			nature: "Venta",
			side:   disclosure.Sell,
		},
		"other":                    {row: prefix + "Otros" + rest, nature: "Otros", side: disclosure.OtherSide},
		"lower case is not a sale": {row: prefix + "venta" + rest, nature: "venta", side: disclosure.OtherSide},
		"a sale of other things": {
			row:    prefix + "Venta de derechos" + rest,
			nature: "Venta de derechos",
			side:   disclosure.OtherSide,
		},
		"wrapped nature": {
			row:    prefix + "Entrega de" + rest + "\n\nacciones en\n\nejecución de un plan",
			nature: "Entrega de acciones en ejecución de un plan",
			side:   disclosure.OtherSide,
		},
		"both wrapped": {
			row:        "ES01SIM99017\tOpciones de\tEntrega en" + rest + "\ncompra\tejecución de un plan",
			instrument: "Opciones de compra",
			nature:     "Entrega en ejecución de un plan",
			side:       disclosure.OtherSide,
		},
		"price of zero": {
			row:    prefix + "Otros\t17/09/2026\tXOFF\t6000\t0,00\tEUR",
			nature: "Otros",
			side:   disclosure.OtherSide,
			price:  "0",
		},
		"points between thousands": {
			row:    prefix + "Compra\t17/09/2026\tXMAD\t1.006.000,00\t1.234,50\tMXN",
			volume: "1006000",
			price:  "1234.5",
		},
		"two points":      {row: prefix + "Compra\t17/09/2026\tXMAD\t1.006.000\t2,85\tEUR", volume: "1006000"},
		"three decimals":  {row: prefix + "Compra\t17/09/2026\tXMAD\t1,234\t2,850\tEUR", volume: "1.234"},
		"lower case ISIN": {row: "es01sim99017\tAcción\tCompra" + rest},

		"one point is ambiguous":   {row: prefix + "Compra\t17/09/2026\tXMAD\t1.234\t2,85\tEUR", refused: true},
		"decimal point":            {row: prefix + "Compra\t17/09/2026\tXMAD\t6000,00\t2.85\tEUR", refused: true},
		"two commas":               {row: prefix + "Compra\t17/09/2026\tXMAD\t1,006,000\t2,85\tEUR", refused: true},
		"group of two digits":      {row: prefix + "Compra\t17/09/2026\tXMAD\t1.06,00\t2,85\tEUR", refused: true},
		"leading zero":             {row: prefix + "Compra\t17/09/2026\tXMAD\t06000,00\t2,85\tEUR", refused: true},
		"negative":                 {row: prefix + "Compra\t17/09/2026\tXMAD\t-6000,00\t2,85\tEUR", refused: true},
		"spaces between thousands": {row: prefix + "Compra\t17/09/2026\tXMAD\t6 000,00\t2,85\tEUR", refused: true},
		"touching numbers":         {row: prefix + "Compra\t17/09/2026\tXMAD\t6000,002,85\tEUR", refused: true},
		"huge": {
			row:     prefix + "Compra\t17/09/2026\tXMAD\t" + strings.Repeat("9", 40) + "\t2,85\tEUR",
			refused: true,
		},
		"day that does not exist":   {row: prefix + "Compra\t31/09/2026\tXMAD\t6000,00\t2,85\tEUR", refused: true},
		"month that does not exist": {row: prefix + "Compra\t09/17/2026\tXMAD\t6000,00\t2,85\tEUR", refused: true},
		"29 February":               {row: prefix + "Compra\t29/02/2026\tXMAD\t6000,00\t2,85\tEUR", refused: true},
		"year of two digits":        {row: prefix + "Compra\t17/09/26\tXMAD\t6000,00\t2,85\tEUR", refused: true},
		"year zero":                 {row: prefix + "Compra\t17/09/0026\tXMAD\t6000,00\t2,85\tEUR", refused: true},
		"two dates": {
			row:     prefix + "Compra\t17/09/2026\t18/09/2026\tXMAD\t6000,00\t2,85\tEUR",
			refused: true,
		},
		"date in another form":       {row: prefix + "Compra\t2026-09-17\tXMAD\t6000,00\t2,85\tEUR", refused: true},
		"wrong check digit":          {row: "ES01SIM99011\tAcción\tCompra" + rest, refused: true},
		"no ISIN":                    {row: "Acción\tCompra" + rest, refused: true},
		"no nature":                  {row: "ES01SIM99017\tAcción" + rest, refused: true},
		"free text that touches":     {row: "ES01SIM99017\tOpciones de venta Compra" + rest, refused: true},
		"four cells before the date": {row: "ES01SIM99017\tAcción\tordinaria\tCompra" + rest, refused: true},
		"no currency":                {row: prefix + "Compra\t17/09/2026\tXMAD\t6000,00\t2,85", refused: true},
		"euro sign":                  {row: prefix + "Compra\t17/09/2026\tXMAD\t6000,00\t2,85\t€", refused: true},
		"venue in words":             {row: prefix + "Compra\t17/09/2026\tMadrid\t6000,00\t2,85\tEUR", refused: true},
		"volume and price before": {
			row:     "ES01SIM99017\tAcción\tCompra\t6000,00\t2,85\tEUR\t17/09/2026\tXMAD",
			refused: true,
		},
		"continued purchase":         {row: prefix + "Compra" + rest + "\n\nde derechos", refused: true},
		"continued instrument":       {row: "ES01SIM99017\tOpciones de\tVenta" + rest + "\n\ncompra", refused: true},
		"which cell is continued":    {row: "ES01SIM99017\tOpciones de\tEntrega" + rest + "\n\nacciones", refused: true},
		"broken number":              {row: prefix + "Entrega" + rest + "\n\n5", refused: true},
		"row of text above":          {row: "ejecución de un plan\n\n" + prefix + "Entrega" + rest, refused: true},
		"nature that names":          {row: prefix + "Donación a Casquero" + rest, refused: true},
		"nature that is a number":    {row: prefix + "12,5" + rest, refused: true},
		"long nature":                {row: prefix + strings.Repeat("x", 600) + rest, refused: true},
		"three cells below":          {row: "ES01SIM99017\tOpciones de\tEntrega" + rest + "\na\tb\tc", refused: true},
		"operations without a total": {row: prefix + "Entrega" + rest + "\n" + prefix + "Donación" + rest, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := dealing.Read([]string{form + heads + test.row + "\n\n" + end})
			if test.refused {
				checkUnreadable(t, err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := firstTrade()
			set := func(field *string, value string) {
				if value != "" {
					*field = value
				}
			}
			set(&want.Instrument, test.instrument)
			set(&want.Nature, test.nature)
			set(&want.Volume, test.volume)
			set(&want.Price, test.price)
			if test.side != "" {
				want.Side = test.side
			}
			if test.price == "0" {
				want.Venue = "XOFF"
			}
			if strings.Contains(test.row, "MXN") {
				want.Currency = "MXN"
			}
			want.Quote = got.Trades[0].Quote // TestQuotes checks it
			if diff := cmp.Diff([]disclosure.Trade{want}, got.Trades); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Aggregates() != "" {
				t.Errorf("got %q, want nothing where no total is declared", got.Aggregates())
			}
		})
	}
}

func checkUnreadable(t *testing.T, err error) {
	t.Helper()
	bad, ok := errors.AsType[*dealing.Unreadable](err)
	if !ok {
		t.Fatalf("got %v, want that the notice is refused", err)
	}
	if bad.Reason == "" || strings.Contains(err.Error(), "Casquero") || !dealing.IsUnreadable(err) {
		t.Errorf("got the reason %q, want one without names", err)
	}
}

// TestForms changes a good notice. Each text is refused, or read as stated.
func TestForms(t *testing.T) {
	for name, test := range map[string]struct{ old, new string }{
		"no title":                 {"MODELO DE NOTIFICACIÓN", "MODELO"},
		"no English title":         {"STANDARD FORM", "FORM"},
		"no name":                  {"Lorenza Casquero Olmo\n", ""},
		"name on the label's line": {"/ Name\n\nLorenza Casquero Olmo", "/ Name Lorenza Casquero Olmo"},
		"two names":                {"2 MOTIVO", "a) Nombre y apellidos\n\nOtra\n\n2 MOTIVO"},
		"two notices":              {end, end + whole},
		"no box marked":            {"[ √ ]", "[ ]"},
		"both boxes marked":        {"[ ]", "[ x ]"},
		"no boxes":                 {"[ ]", ""},
		"neither kind":             {"Inicial\n", "Primera\n"},
		"no kind":                  {"\nInicial\n", ""},
		"text behind the kind":     {"Inicial\n", "Inicial\n\nno, es una modificación\n"},
		"no issuer":                {"ACERÍAS FICTICIAS DEL NERVA, S.A.\n", ""},
		"invalid LEI":              {"9598FICTICIA00000141", "9598FICTICIA00000142"},
		"two LEI":                  {"9598FICTICIA00000141", "9598FICTICIA00000141\n\n9598FICTICIA00000238"},
		"no grid":                  {"4 DATOS DE LA OPERACIÓN", "4 DATOS"},
		"no rows":                  {first + sum, ""},
		"no heads":                 {heads, ""},
		"columns swapped":          {"4.f) Volumen\t4.g) Precio", "4.g) Precio\t4.f) Volumen"},
		"heads swapped":            {"4.f) Volumen\t4.g) Precio", "4.f) Precio\t4.g) Volumen"},
		"heads below swapped": {
			heads,
			"4.a)\t4.b)\t4.c)\t4.d)\t4.e)\t4.f)\t4.g)\t4.h)\n" +
				"Código\tTipo\tTipo\tFecha\tLugar\tPrecio\tVolumen\tDivisa\n\n",
		},
		"a column is missing":     {"4.h) Divisa", ""},
		"a column twice":          {"4.h) Divisa", "4.h) Divisa\t4.h) Divisa"},
		"text above the rows":     {heads, heads + "Entrega de\n\n"},
		"text below a total":      {sum, sum + "acciones\n\n"},
		"total without rows":      {first, ""},
		"two totals":              {sum, sum + sum},
		"total without numbers":   {"6000,00\t2,85\n\n", ""},
		"total of three numbers":  {"6000,00\t2,85\n\n", "6000,00\t2,85\t17100,00\n\n"},
		"total that is ambiguous": {"6000,00\t2,85\n\n", "6.000\t2,85\n\n"},
		"numbers without a total": {"Total Agregado / Aggregated information\n\n", ""},
		"text beside the total":   {"Total Agregado /", "Entrega Total Agregado /"},
		"rows below the grid":     {"No aplica", first},
		"totals below the grid":   {"No aplica", "Total Agregado"},
		"name of many lines":      {"Lorenza Casquero Olmo", strings.Repeat("Lorenza Casquero Olmo\n\n", 60)},
		"empty":                   {whole, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(whole, test.old) {
				t.Fatalf("the notice does not have %q", test.old)
			}
			_, err := dealing.Read([]string{strings.Replace(whole, test.old, test.new, 1)})
			checkUnreadable(t, err)
		})
	}
}

// TestVariants changes a good notice in ways that leave it certain.
func TestVariants(t *testing.T) {
	for name, test := range map[string]struct{ old, new string }{
		"ligature":                   {"Identificación", "Identiﬁcación"},
		"non-breaking space":         {"DATOS DEL", "DATOS\u00a0DEL"},
		"LEI beside its label":       {"b) LEI:\n\n", "b) LEI: "},
		"other mark":                 {"√", "X"},
		"English label on its line":  {"/ Name\n\nLorenza", "\n\nName\n\nLorenza"},
		"total on one line":          {"information\n\n6000,00", "information\t6000,00"},
		"total on two lines":         {"Total Agregado / Aggregated", "Total Agregado\n\nAggregated"},
		"total of the volume":        {"6000,00\t2,85\n\n", "6000,00\n\n"},
		"number of the footnote":     {"Aggregated information\n", "Aggregated information (5)\n"},
		"no other information":       {end, ""},
		"heads with dots":            {"4.a) Código", "4.a) Código de ident..."},
		"heads on several lines":     {heads, heads + "de identificación\tdel instrumento\tde la operación\n\nunitario\n\n"},
		"page break before the rows": {heads, heads + "\f" + heads},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(whole, test.old) {
				t.Fatalf("the notice does not have %q", test.old)
			}
			got, err := dealing.Read(strings.Split(strings.Replace(whole, test.old, test.new, 1), "\f"))
			if err != nil {
				t.Fatal(err)
			}
			want := firstTrade()
			want.Page = got.Trades[0].Page
			if len(got.Trades) != 1 || got.Trades[0] != want || got.Person != "Lorenza Casquero Olmo" ||
				got.LEI != "9598FICTICIA00000141" || got.Aggregates() != disclosure.SumsAgree {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestTotals: a total that is not that of its rows is marked, and changes no row. On several
// pages it may mean that a row is missing.
func TestTotals(t *testing.T) {
	const second = "ES01SIM99017\tAcción\tCompra\t17/09/2026\tXMAD\t3000,00\t2,86\tEUR\n\n"
	for name, test := range map[string]struct {
		grid string
		want disclosure.Agreement
	}{
		"rounded mean":            {first + second + total("9000,00\t2,85"), disclosure.SumsAgree}, // 2.8533…
		"four decimals":           {first + second + total("9000,00\t2,8533"), disclosure.SumsAgree},
		"mean that is cut":        {first + second + total("9000,00\t2,8530"), disclosure.SumsDiffer},
		"wrong volume":            {first + second + total("9001,00\t2,85"), disclosure.SumsDiffer},
		"price in the place":      {first + second + total("2,85\t9000,00"), disclosure.SumsDiffer},
		"no price":                {first + second + total("9000,00"), disclosure.SumsAgree},
		"several currencies":      {first + strings.Replace(second, "EUR", "USD", 1) + total("9000,00\t9,99"), disclosure.SumsAgree},
		"volume of zero":          {strings.Replace(first, "6000,00", "0,00", 1) + total("0,00\t2,85"), disclosure.SumsAgree},
		"first of two is wrong":   {first + total("9,00") + second + total("3000,00\t2,86"), disclosure.SumsDiffer},
		"two operations, one sum": {strings.Replace(first, "XMAD", "XOFF", 1) + second + total("3000,00\t2,86"), disclosure.SumsAgree},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := dealing.Read([]string{form + heads + test.grid + end})
			if err != nil {
				t.Fatal(err)
			}
			if rows := strings.Count(test.grid, "Acción"); len(got.Trades) != rows || got.Aggregates() != test.want {
				t.Errorf("got %d rows and %q, want %d and %q", len(got.Trades), got.Aggregates(), rows, test.want)
			}
		})
	}
	for name, pages := range map[string][]string{
		"wrong volume on two pages": {form + heads + first, heads + second + total("9001,00\t2,85") + end},
		"no total on two pages":     {form + heads + first, heads + second + end},
		"total on the second page":  {form + heads + first, heads + total("9000,00") + end},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dealing.Read(pages)
			checkUnreadable(t, err)
		})
	}
	got, err := dealing.Read([]string{form + heads + first, heads + second + total("9000,00\t2,85") + end})
	if err != nil || len(got.Trades) != 2 || got.Trades[1].Page != 2 {
		t.Errorf("two pages with a right total: got %+v, %v", got.Trades, err)
	}
}

func total(numbers string) string {
	return "Total Agregado / Aggregated information\n\n" + numbers + "\n\n"
}

// TestQuotes: what is written freely may name people, so the quote does not have it.
func TestQuotes(t *testing.T) {
	grid := heads + strings.Replace(first, "Compra", "Donación a D. Froilán Bermejo", 1) + sum + end
	got, err := dealing.Read([]string{form + grid})
	if err != nil {
		t.Fatal(err)
	}
	if want := "17/09/2026 XMAD 6000,00 2,85 EUR"; got.Trades[0].Quote != want {
		t.Errorf("got %q, want %q", got.Trades[0].Quote, want)
	}
	for _, wrong := range noticetest.Quotes([]string{form + grid}, got) {
		t.Error(wrong)
	}
}

func TestManyRows(t *testing.T) {
	for rows, refused := range map[int]bool{disclosure.MaxTrades: false, disclosure.MaxTrades + 1: true, 5000: true} {
		got, err := dealing.Read([]string{form + heads + strings.Repeat(first, rows) + end})
		if refused {
			checkUnreadable(t, err)
		} else if err != nil || len(got.Trades) != rows {
			t.Errorf("%d rows: got %d, %v", rows, len(got.Trades), err)
		}
	}
	_, err := dealing.Read(make([]string, 501))
	checkUnreadable(t, err)
	_, err = dealing.Read([]string{strings.Repeat("x", 5<<20)})
	checkUnreadable(t, err)
}

// TestValid: every trade is one that the log accepts.
func TestValid(t *testing.T) {
	got, err := dealing.Read([]string{whole})
	if err != nil {
		t.Fatal(err)
	}
	p := position(got)
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
}

func position(n dealing.Notice) disclosure.Position {
	return disclosure.Position{
		ID:           "dealing-2026126933",
		Kind:         disclosure.Dealing,
		Number:       "2026126933",
		RegisteredOn: "2026-09-25",
		State:        disclosure.StateCurrent,
		LEI:          n.LEI,
		Name:         n.Person,
		Trades:       n.Trades,
		Aggregates:   n.Aggregates(),
	}
}

// FuzzRead: whatever the text, the trades are valid and quoted from it.
func FuzzRead(f *testing.F) {
	f.Add(whole)
	f.Add(form + heads + first + "\f" + heads + sum + end)
	f.Add(strings.ReplaceAll(whole, "\t", " "))
	f.Add(form + heads + strings.Replace(first, "Compra", "Entrega de", 1) + "acciones\n\n" + sum)
	f.Add("\xff\x00\t\n4.a)\f1.234")
	f.Fuzz(func(t *testing.T, text string) {
		pages := strings.Split(text, "\f")
		got, err := dealing.Read(pages)
		if err != nil {
			checkUnreadable(t, err)
			return
		}
		if len(got.Trades) == 0 || len(got.Trades) > disclosure.MaxTrades {
			t.Errorf("got %d trades", len(got.Trades))
		}
		p := position(got)
		p.Name = ""
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
		for i, trade := range got.Trades {
			if page := strings.Join(strings.Fields(pages[trade.Page-1]), " "); !strings.Contains(page, trade.Quote) {
				t.Errorf("row %d: %q is not on its page", i+1, trade.Quote)
			}
		}
	})
}

// TestGolden reads files of the shapes that are known of the register.
func TestGolden(t *testing.T) {
	read := reader(t)
	day := func(s string) disclosure.Day { d, _ := disclosure.ParseDay(s); return d }
	base := func(t notice.Trade) notice.Trade {
		t.ISIN = "ES01SIM99025"
		t.Instrument = "Acción"
		t.Currency = "EUR"
		return t
	}
	for name, n := range map[string]notice.Notice{
		"sale of a manager": {
			Role: "Directora de comunicación",
			Trades: []notice.Trade{
				base(notice.Trade{Nature: "Venta", Date: day("2018-09-06"), Venue: "XBAR", Volume: "745", Price: "4.01"}),
			},
		},
		"purchase": {
			Role: "Consejero delegado",
			Trades: []notice.Trade{
				base(notice.Trade{Nature: "Compra", Date: day("2026-08-31"), Venue: "XMAD", Volume: "15000", Price: "27.05"}),
			},
		},
		"two purchases": {
			Role: "Consejero",
			Trades: []notice.Trade{
				base(notice.Trade{Nature: "Compra", Date: day("2018-05-04"), Venue: "XMAD", Volume: "1000000", Price: "8.29"}),
				base(notice.Trade{Nature: "Compra", Date: day("2018-05-07"), Venue: "XMAD", Volume: "400000", Price: "8.28"}),
			},
		},
		"associated company": {
			Person:     "CARTERA INVENTADA 2011, S.A.U.",
			Role:       "FROILÁN BERMEJO - VICEPRESIDENTE",
			Associated: true,
			Trades: []notice.Trade{
				base(notice.Trade{Nature: "Compra", Date: day("2022-11-02"), Venue: "XMAD", Volume: "700000", Price: "4.17"}),
			},
		},
		"price of zero": {
			Role:      "Consejero, Presidente",
			Amendment: "Se corrige la fecha",
			Trades: []notice.Trade{
				base(notice.Trade{Nature: "Otros", Date: day("2021-01-15"), Venue: "XXXX", Volume: "12500", Price: "0.00"}),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			n.Number = "2026126933"
			n.Issuer = "ACERÍAS FICTICIAS DEL NERVA, S.A."
			n.LEI = "9598FICTICIA00000141"
			if n.Person == "" {
				n.Person = "Lorenza Casquero Olmo"
			}
			got, err := dealing.Read(read(notice.PDF(n)))
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range noticetest.Compare(n, got) {
				t.Error(wrong)
			}
			if got.Aggregates() != disclosure.SumsAgree {
				t.Errorf("got %q, want that the sums agree", got.Aggregates())
			}
		})
	}
	wrong := notice.Usual()
	wrong.Total = func(volume, price string) (string, string) { return volume + "0", price }
	n := noticetest.Make(1)
	n.Trades = n.Trades[:1]
	got, err := dealing.Read(read(notice.Write(n, wrong)))
	if err != nil || got.Aggregates() != disclosure.SumsDiffer {
		t.Errorf("a file with a wrong total: got %q, %v", got.Aggregates(), err)
	}
}
