package paper

import (
	"math"
	"strconv"
	"strings"

	"pregon/internal/sim/filler"
)

// tables are the tables whose figures must agree with one another.
var tables = map[string]func(*writer) [][]string{
	"recompra": buyback, "resultados": results, "liquidez": liquidity, "votos": votes,
	"consejo": board, "retribuciones": salaries, "cartera": portfolio,
}

// buyback returns the shares bought on each day of a week. They add up to the total
// at the mean price.
func buyback(w *writer) [][]string {
	total, price := int64(filler.ParseDecimal(w.value("acciones"))), filler.ParseDecimal(w.value("precio"))
	w.values["fin"] = w.values["semana"]
	if _, end, ok := strings.Cut(w.values["semana"], " y el "); ok {
		w.values["fin"] = end
	}
	friday := shift(w.Day, -1)
	if w.values["fin"] != "" {
		friday = w.date("fin")
	}
	rows := [][]string{{"Fecha", "Títulos", "Precio medio (€)", "Importe (€)"}}
	left, cost := total, price*float64(total)
	for n := range 5 {
		shares, at := total/5*int64(80+w.IntN(40))/100, math.Round(price*(0.985+w.Float64()*0.03)*1e3)/1e3
		if n == 4 || shares > left {
			shares = left
			at = cost / float64(max(1, left))
		}
		left -= shares
		cost -= float64(shares) * at
		day := shift(friday, n-4)
		rows = append(rows, []string{
			day.Format("02/01/2006"), filler.Grouped(shares), filler.Decimal(at, 3),
			filler.Decimal(float64(shares)*at, 2),
		})
	}
	return append(rows, []string{
		"Total", filler.Grouped(total), w.value("precio"),
		filler.Decimal(price*float64(total), 2),
	})
}

// results returns the figures of a period and of the one before.
func results(w *writer) [][]string {
	w.value("ingresos")
	rows := [][]string{{"Millones de euros", "Periodo", "Anterior", "Var. (%)"}}
	for _, of := range [][2]string{
		{"Importe neto de la cifra de negocios", "ingresos"},
		{"Resultado bruto de explotación (EBITDA)", "ebitda"},
		{"Resultado neto atribuible", "neto"},
		{"Deuda financiera neta", "deuda"},
		{"Patrimonio neto", "patrimonio"},
	} {
		now, before := w.values[of[1]], w.values[of[1]+"antes"]
		change := w.values["var"+of[1]]
		if fall := w.values["bajaneto"]; of[1] == "neto" && fall != "" {
			change = "-" + fall
		}
		if change == "" {
			change = filler.Decimal((filler.ParseDecimal(now)/max(0.1, filler.ParseDecimal(before))-1)*100, 1)
		}
		rows = append(rows, []string{of[0], now, before, change})
	}
	return rows
}

// liquidity returns the shares that a broker bought and sold for a company.
func liquidity(w *writer) [][]string {
	price := w.LogUniform(1.1, 42)
	shares, cash := int64(20_000+w.IntN(60_000)), 150_000+w.Float64()*600_000
	rows := [][]string{
		{"Concepto", "Títulos", "Efectivo (€)"},
		{"Saldo inicial", filler.Grouped(shares), filler.Decimal(cash, 2)},
	}
	for n, name := range []string{"Compras", "Ventas"} {
		traded := int64(3000 + w.IntN(15_000))
		paid := math.Round(float64(traded)*price*(0.97+w.Float64()*0.06)*100) / 100
		rows = append(rows, []string{name, filler.Grouped(traded), filler.Decimal(paid, 2)})
		if n == 1 {
			traded, paid = -traded, -paid
		}
		shares, cash = shares+traded, cash-paid
	}
	return append(rows, []string{"Saldo final", filler.Grouped(shares), filler.Decimal(math.Abs(cash), 2)})
}

// votes returns the percentages of the votes of a meeting.
func votes(w *writer) [][]string {
	rows := [][]string{{"Punto del orden del día", "A favor (%)", "En contra (%)", "Abstención (%)"}}
	for n, name := range []string{
		"Cuentas anuales", "Aplicación del resultado", "Gestión social",
		"Auditor de cuentas", "Consejeros", "Remuneraciones", "Delegación de facultades",
	} {
		against, abstained := w.IntN(900), w.IntN(300)
		rows = append(rows, []string{
			strconv.Itoa(n+1) + ". " + name, filler.Decimal(float64(10_000-against-abstained)/100, 2),
			filler.Decimal(float64(against)/100, 2), filler.Decimal(float64(abstained)/100, 2),
		})
	}
	return rows
}

// board returns the directors of a company.
func board(w *writer) [][]string {
	rows := [][]string{{"Miembro del Consejo", "Categoría", "Desde"}}
	for n := range 7 + w.IntN(5) {
		class := []string{"Presidencia", "Ejecutiva", "Independiente", "Independiente", "Dominical"}[min(n, 2+n%3)]
		rows = append(rows, []string{w.party("persona"), class, strconv.Itoa(w.Day.Year() - 1 - w.IntN(10))})
	}
	return rows
}

// salaries returns the remuneration of directors, in thousands of euros.
func salaries(w *writer) [][]string {
	rows := [][]string{{"Miles de euros", "Fijo", "Variable", "Total"}}
	for n := range 7 + w.IntN(5) {
		fixed, extra := 60+w.IntN(120), 0
		if n < 2 {
			fixed, extra = 300+w.IntN(700), 100+w.IntN(600)
		}
		rows = append(rows, []string{
			w.party("persona"), filler.Grouped(int64(fixed)),
			filler.Grouped(int64(extra)), filler.Grouped(int64(fixed + extra)),
		})
	}
	return rows
}

// portfolio returns the loans of a securitisation fund.
func portfolio(w *writer) [][]string {
	balance := w.LogUniform(4e7, 9e8)
	loans := 900 + w.IntN(9000)
	return [][]string{
		{"Cartera de derechos de crédito", "Valor"},
		{"Saldo vivo (euros)", filler.Decimal(balance, 2)},
		{"Número de operaciones", filler.Grouped(int64(loans))},
		{"Saldo medio por operación (euros)", filler.Decimal(balance/float64(loans), 2)},
		{"Tipo medio ponderado (%)", w.value("tipo")},
		{"Morosidad superior a 90 días (%)", w.value("mora")},
		{"Próxima fecha de pago", shift(w.Day, 60).Format("02/01/2006")},
		{"Fecha de los datos", w.Day.AddDate(0, 0, -w.Day.Day()).Format("02/01/2006")},
	}
}
