// Package noticetest makes notices of managers' dealings for tests of their reader, and
// compares what was read with the truth.
package noticetest

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/paper/notice"
)

var (
	firstNames = []string{"Lorenza", "Fulgencio", "Mª Begoña", "Iñaki", "Núria", "Xoán", "José-Ángel", "Águeda"}
	surnames   = []string{"Casquero", "Olmo", "Zarandieta", "de la Vega", "Güell", "Núñez", "O'Doyle", "Etxeberria"}
	companies  = []string{
		"ACERÍAS FICTICIAS DEL NERVA, S.A.", "Cartera Inventada 2011, S.L.U.", "Fondo Imaginado UK LP",
		"BANCO SIMULADO DEL TAJO, S.A.", "Inversiones Quiméricas & Hijos, S.A.U.",
	}
	roles = []string{
		"Consejero", "Consejera independiente", "CONSEJERO DELEGADO", "Directora general de finanzas y operaciones",
		"Miembro de la alta dirección, responsable de auditoría interna y de la coordinación con los auditores " +
			"externos de las sociedades del grupo",
		"Vicepresidente 2º",
	}
	instruments = []string{"Acción", "Acción", "Acción", "Acción", "Acción", "Acción", "Derivados"}
	natures     = []string{"Compra", "Compra", "Compra", "Venta", "Venta", "Venta", "Otros"}
	longNatures = []string{
		"Entrega de acciones en ejecución del plan de incentivos a largo plazo 2024-2026",
		"Compra de acciones por suscripción de la ampliación de capital liberada",
		"Venta de derechos de asignación gratuita",
		"Préstamo de valores", "compra", "VENTA", "Donación", "Reinversión del dividendo flexible",
	}
	longInstruments = []string{"Opciones de compra sobre acciones", "Obligaciones convertibles", "Derechos de suscripción"}
	venues          = []string{
		"XMAD", "XMAD", "XMAD", "XBAR", "XMCE", "BMEX", "SIBE", "XNYS", "XMEX", "XOFF", "XXXX", "BEUP", "CEUX",
	}
	currencies = []string{"EUR", "EUR", "EUR", "EUR", "EUR", "EUR", "USD", "MXN"}
	lei        = []string{"9598FICTICIA00000141", "9598FICTICIA00000238", "9598FICTICIA00000335"}
	others     = []string{
		"", "No aplica", "La operación se ha realizado al amparo de un programa de gestión discrecional de cartera, sin " +
			"instrucciones de la persona obligada, durante los días 3 y 4 del mes. Volumen 1.000 y precio 2,50.",
		"Esta notificación sustituye a la anterior. Total de acciones tras la operación: 12.345",
	}
	amendments = []string{"Error en el precio", "Se corrige el volumen de la segunda operación, que por un error de " +
		"transcripción se comunicó con un cero de más, así como el centro de negociación de las operaciones restantes"}
)

// Make returns the notice of a seed.
func Make(seed uint64) notice.Notice {
	rng := filler.NewRandom(seed, 40)
	n := notice.Notice{
		Number: strconv.Itoa(2026000000 + int(seed%1000000)),
		Issuer: filler.Pick(rng, companies),
		LEI:    filler.Pick(rng, lei),
		Person: person(rng),
		Role:   filler.Pick(rng, roles),
		Other:  filler.Pick(rng, others),
	}
	if rng.Percent(25) {
		n.Associated = true
		separator := filler.Pick(rng, []string{" - ", ", ", "/"})
		n.Role = person(rng) + separator + filler.Pick(rng, roles[:3])
		if rng.Percent(60) {
			n.Person = filler.Pick(rng, companies)
		}
	}
	if rng.Percent(10) {
		n.Amendment = filler.Pick(rng, amendments)
	}
	n.Trades = trades(rng)
	return n
}

func person(rng filler.Random) string {
	return filler.Pick(rng, firstNames) + " " + filler.Pick(rng, surnames) + " " + filler.Pick(rng, surnames)
}

// trades returns the rows of some operations.
func trades(rng filler.Random) (list []notice.Trade) {
	operations := 1
	if rng.Percent(30) {
		operations = rng.Between(2, 6)
	}
	first, _ := disclosure.ParseDay("2018-05-01")
	for range operations {
		t := notice.Trade{
			ISIN:       isin(rng),
			Instrument: filler.Pick(rng, instruments),
			Nature:     filler.Pick(rng, natures),
			Date:       first + disclosure.Day(rng.IntN(3000)),
			Venue:      filler.Pick(rng, venues),
			Currency:   filler.Pick(rng, currencies),
		}
		if rng.Percent(12) {
			t.Nature = filler.Pick(rng, longNatures)
		}
		if rng.Percent(1) {
			t.Instrument = filler.Pick(rng, longInstruments)
		}
		rows := 1
		free := t.Nature != "Compra" && t.Nature != "Venta"
		switch x := rng.IntN(100); {
		case free && x >= 90: // only orders at a market are executed in many parts
			rows = rng.Between(2, 12)
		case x >= 98:
			rows = rng.Between(60, 200)
		case x >= 90:
			rows = rng.Between(9, 59)
		case x >= 60:
			rows = rng.Between(2, 8)
		}
		free = free && rng.Percent(50)
		for range rows {
			t.Volume = decimal(rng, rng.LogUniform(1, 2e7), []int{0, 0, 0, 0, 2, 6})
			if t.Price = decimal(rng, rng.LogUniform(0.01, 900), []int{2, 2, 3, 4, 4, 6}); free {
				t.Price = "0"
			}
			if rng.Percent(1) {
				t.Currency = filler.Pick(rng, currencies)
			}
			list = append(list, t)
		}
	}
	return list
}

// decimal returns a number with one of some counts of decimals.
func decimal(rng filler.Random, x float64, places []int) string {
	n := filler.Pick(rng, places)
	if x > 10_000 {
		n = min(n, 2) // only small numbers have many decimals
	}
	return strconv.FormatFloat(x, 'f', n, 64)
}

// isin returns a fictional ISIN with its check digit.
func isin(rng filler.Random) string {
	body := fmt.Sprintf("%sSIM%04d", filler.Pick(rng, []string{"ES01", "ES01", "ES01", "GB00", "LU00"}), rng.IntN(1e4))
	sum := 0
	double := true
	add := func(d int) {
		if double {
			d *= 2
		}
		double = !double
		sum += d/10 + d%10
	}
	for i := len(body) - 1; i >= 0; i-- {
		if c := int(body[i]); c <= '9' {
			add(c - '0')
		} else {
			add((c - 'A' + 10) % 10)
			add((c - 'A' + 10) / 10)
		}
	}
	return body + strconv.Itoa((10-sum%10)%10)
}

// Style returns a layout that is not the regulator's: columns of other widths, other words in
// the heads, cells that are broken and aligned in another way.
func Style(seed uint64) notice.Style {
	rng := filler.NewRandom(seed, 41)
	s := notice.Usual()
	s.Size = filler.Pick(rng, []float64{6, 7, 8, 9})
	s.Gap = filler.Pick(rng, []float64{2, 4, 6, 8, 12})
	for n := range s.Widths {
		s.Widths[n] *= 0.8 + 0.4*rng.Float64()
	}
	s.Align = notice.Align(rng.IntN(3))
	s.Points = rng.Percent(50)
	s.HeadOnce = rng.Percent(50)
	s.LeftFigure = rng.Percent(50)
	s.Break = rng.Percent(50)
	s.TotalHead = filler.Pick(rng, []string{
		"Total Agregado",
		"Total Agregado (5) / Aggregated information",
		"Aggregated information",
	})
	if rng.Percent(50) {
		s.Heads = filler.Pick(rng, otherHeads)
	}
	if rng.Percent(10) {
		s.Order = rand.New(rand.NewPCG(seed, 42)).Perm(8)
	}
	return s
}

var otherHeads = [][8]string{
	{"ISIN", "Instrumento", "Operación", "Fecha", "MIC", "Volumen", "Precio", "Divisa"},
	{"", "", "", "", "", "", "", ""},
	{
		"Código...", "Naturaleza del instrumento...", "Naturaleza...", "Fecha...",
		"Lugar...", "Volumen...", "Precio...", "Divisa...",
	},
	{"Valor afectado", "Clase", "Concepto declarado", "Día", "Sede", "Títulos", "Importe por título", "Unidad"},
}
