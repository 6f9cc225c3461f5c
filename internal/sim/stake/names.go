package stake

import (
	"strings"

	"pregon/internal/sim/filler"
)

// The names are invented. No second surname and no house exists.
var (
	women = []string{"Leonor", "Beatriz", "Inés", "Mercedes", "Aurora", "Jimena", "Teresa", "Olalla"}
	men   = []string{"Gonzalo", "Álvaro", "Íñigo", "Rodrigo", "Bernardo", "Tomás", "Hugo", "Martín"}
	first = []string{"Ruiz", "Ortega", "Navarro", "Gil", "Peña", "Muñoz", "Campos", "Vidal", "Ibáñez", "Núñez"}
	last  = []string{
		"Valdecierzo", "Cantalmoro", "Torrealmena", "Hoyalmiral", "Peñaluenga", "Fuentelmirlo", "Brizalta", "Montesquivo",
	}
	roles = []string{
		"CONSEJERO EJECUTIVO", "CONSEJERA INDEPENDIENTE", "CONSEJERO DOMINICAL", "DIRECTORA FINANCIERA", "PRESIDENTE",
		"CONSEJERA DELEGADA", "SECRETARIO DEL CONSEJO",
	}
	houses = []string{
		"ARDAZUL", "BELCARRÓN", "CORVALMA", "DUERNEGA", "ESPARVEL", "FONTALBA", "GARZAMORA", "HOLMENGREY", "ILLASTAN",
		"JARABEL", "KESTREVAL", "LUMBRALEJO", "MIRAVALDO", "NORTHWEALD", "OSTERBRÜCK", "PALMENTARIA",
	}
	forms = []string{
		" CAPITAL MANAGEMENT, LLC", " ASSET MANAGEMENT (UK) LIMITED", " INVESTMENTS LP", " GESTION, S.G.I.I.C., S.A.",
		" , A.G.", " CARTERA, S.A.U.", " PARTICIPACIONES INDUSTRIALES, S.L.", " & PARTNERS INC.", " COMPAÑIA DE INVERSIONES, S.A.",
	}
	colours = []string{"BLANCO", "ROJO", "VERDE", "GRIS", "DORADO", "PARDO", "CLARO", "ALTO", "NUEVO", "VIEJO"}
)

// institution returns the name of a company that holds shares.
func institution(rng filler.Random) string {
	return filler.Pick(rng, houses) + " " + filler.Pick(rng, colours) + filler.Pick(rng, forms)
}

// foundation returns the name of what controls a company.
func foundation(rng filler.Random) string {
	return "FUNDACION BANCARIA " + filler.Pick(rng, houses) + " " + filler.Pick(rng, colours)
}

// person returns a first name and two surnames.
func person(rng filler.Random) (name, family string) {
	name = filler.Pick(rng, men)
	if rng.Percent(45) {
		name = filler.Pick(rng, women)
	}
	return name, filler.Pick(rng, first) + " " + filler.Pick(rng, last)
}

// shortName returns the name of a company without its legal form and its accents.
func shortName(name string) string {
	name, _, _ = strings.Cut(name, ",")
	return strings.NewReplacer("Á", "A", "É", "E", "Í", "I", "Ó", "O", "Ú", "U").Replace(strings.TrimSuffix(name, " S.A."))
}
