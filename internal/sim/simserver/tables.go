package simserver

import (
	"math"
	"strconv"
	"strings"

	"pregon/internal/sim/market"
)

// tables are those whose figures must agree with one another.
var tables = map[string]func(*writer) [][]string{
	"recompra": buyback, "resultados": results, "liquidez": liquidity, "votos": votes,
	"consejo": board, "retribuciones": salaries, "cartera": portfolio,
}

// buyback are the shares bought on each day of a week. They add up to what was
// bought, at the mean price.
func buyback(w *writer) [][]string {
	total, price := int64(number64(w.blank("acciones"))), number64(w.blank("precio"))
	w.known["fin"] = w.known["semana"]
	if _, end, ok := strings.Cut(w.known["semana"], " y el "); ok {
		w.known["fin"] = end
	}
	friday := shift(w.day, -1)
	if w.known["fin"] != "" {
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
		rows = append(rows, []string{day.Format("02/01/2006"), market.Grouped(shares), decimals(at, 3), decimals(float64(shares)*at, 2)})
	}
	return append(rows, []string{"Total", market.Grouped(total), w.blank("precio"), decimals(price*float64(total), 2)})
}

// results are the figures of a period and of the one before.
func results(w *writer) [][]string {
	w.blank("ingresos")
	rows := [][]string{{"Millones de euros", "Periodo", "Anterior", "Var. (%)"}}
	for _, of := range [][2]string{
		{"Importe neto de la cifra de negocios", "ingresos"},
		{"Resultado bruto de explotación (EBITDA)", "ebitda"},
		{"Resultado neto atribuible", "neto"},
		{"Deuda financiera neta", "deuda"},
		{"Patrimonio neto", "patrimonio"},
	} {
		now, before := w.known[of[1]], w.known[of[1]+"antes"]
		change := w.known["var"+of[1]]
		if fall := w.known["bajaneto"]; of[1] == "neto" && fall != "" {
			change = "-" + fall
		}
		if change == "" {
			change = decimals((number64(now)/max(0.1, number64(before))-1)*100, 1)
		}
		rows = append(rows, []string{of[0], now, before, change})
	}
	return rows
}

// liquidity is what a broker bought and sold of a company's shares.
func liquidity(w *writer) [][]string {
	price := w.spread(1.1, 42)
	shares, cash := int64(20_000+w.IntN(60_000)), 150_000+w.Float64()*600_000
	rows := [][]string{{"Concepto", "Títulos", "Efectivo (€)"}, {"Saldo inicial", market.Grouped(shares), decimals(cash, 2)}}
	for n, name := range []string{"Compras", "Ventas"} {
		traded := int64(3000 + w.IntN(15_000))
		paid := math.Round(float64(traded)*price*(0.97+w.Float64()*0.06)*100) / 100
		rows = append(rows, []string{name, market.Grouped(traded), decimals(paid, 2)})
		if n == 1 {
			traded, paid = -traded, -paid
		}
		shares, cash = shares+traded, cash-paid
	}
	return append(rows, []string{"Saldo final", market.Grouped(shares), decimals(math.Abs(cash), 2)})
}

// votes are the votes of a meeting, in hundredths of those cast.
func votes(w *writer) [][]string {
	rows := [][]string{{"Punto del orden del día", "A favor (%)", "En contra (%)", "Abstención (%)"}}
	for n, name := range []string{"Cuentas anuales", "Aplicación del resultado", "Gestión social", "Auditor de cuentas", "Consejeros", "Remuneraciones", "Delegación de facultades"} {
		against, abstained := w.IntN(900), w.IntN(300)
		rows = append(rows, []string{
			strconv.Itoa(n+1) + ". " + name, decimals(float64(10_000-against-abstained)/100, 2),
			decimals(float64(against)/100, 2), decimals(float64(abstained)/100, 2),
		})
	}
	return rows
}

func board(w *writer) [][]string {
	rows := [][]string{{"Miembro del Consejo", "Categoría", "Desde"}}
	for n := range 7 + w.IntN(5) {
		class := []string{"Presidencia", "Ejecutiva", "Independiente", "Independiente", "Dominical"}[min(n, 2+n%3)]
		rows = append(rows, []string{w.party("persona"), class, strconv.Itoa(w.day.Year() - 1 - w.IntN(10))})
	}
	return rows
}

// salaries are in thousands of euros.
func salaries(w *writer) [][]string {
	rows := [][]string{{"Miles de euros", "Fijo", "Variable", "Total"}}
	for n := range 7 + w.IntN(5) {
		fixed, extra := 60+w.IntN(120), 0
		if n < 2 {
			fixed, extra = 300+w.IntN(700), 100+w.IntN(600)
		}
		rows = append(rows, []string{w.party("persona"), market.Grouped(int64(fixed)), market.Grouped(int64(extra)), market.Grouped(int64(fixed + extra))})
	}
	return rows
}

// portfolio are the loans of a securitisation fund.
func portfolio(w *writer) [][]string {
	balance := w.spread(4e7, 9e8)
	loans := 900 + w.IntN(9000)
	return [][]string{
		{"Cartera de derechos de crédito", "Valor"},
		{"Saldo vivo (euros)", decimals(balance, 2)},
		{"Número de operaciones", market.Grouped(int64(loans))},
		{"Saldo medio por operación (euros)", decimals(balance/float64(loans), 2)},
		{"Tipo medio ponderado (%)", w.blank("tipo")},
		{"Morosidad superior a 90 días (%)", w.blank("mora")},
		{"Próxima fecha de pago", shift(w.day, 60).Format("02/01/2006")},
		{"Fecha de los datos", w.day.AddDate(0, 0, -w.day.Day()).Format("02/01/2006")},
	}
}
