package disclosure_test

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestDisplayName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                        "",
		"BANCO DE SABADELL, S.A.": "Banco de Sabadell, S.A.",
		"ACS, ACTIVIDADES DE CONSTRUCCION Y SERVICIOS, S.A.":        "ACS, Actividades de Construccion y Servicios, S.A.",
		"BANCO BILBAO VIZCAYA ARGENTARIA, S.A.":                     "Banco Bilbao Vizcaya Argentaria, S.A.",
		"BBVA ASSET MANAGEMENT, S.A., SGIIC":                        "BBVA Asset Management, S.A., SGIIC",
		"AENA, S.M.E., S.A.":                                        "Aena, S.M.E., S.A.",
		"MERLIN PROPERTIES, SOCIMI, S.A.":                           "Merlin Properties, SOCIMI, S.A.",
		"LAR ESPAÑA REAL ESTATE SOCIMI, S.A.":                       "LAR España Real Estate SOCIMI, S.A.",
		"INVERSIONES DEL SUR, S.I.C.A.V., S.A.":                     "Inversiones del Sur, S.I.C.A.V., S.A.",
		"MELIA HOTELS INTERNATIONAL S.A.":                           "Melia Hotels International S.A.",
		"RMBS VALDEBRISA 3, FONDO DE TITULIZACIÓN DE ACTIVOS":       "RMBS Valdebrisa 3, Fondo de Titulización de Activos",
		"VALDEBRISA HIPOTECARIO XIV, F.T.A.":                        "Valdebrisa Hipotecario XIV, F.T.A.",
		"FONDO II, FT":                                              "Fondo II, FT",
		"A3M MEDIOS, S.A.":                                          "A3M Medios, S.A.",
		"EL CORTE DE LA SIERRA, S.A. (EN LIQUIDACIÓN)":              "El Corte de la Sierra, S.A. (En Liquidación)",
		"COMPAÑÍA D'ALBA, S. A.":                                    "Compañía D'Alba, S. A.",
		"L'HOSPITALET GAS, S.L.U.":                                  "L'Hospitalet Gas, S.L.U.",
		"TORRE-ALBA Y CÍA., S.A.":                                   "Torre-Alba y Cía., S.A.",
		"SERIE A":                                                   "Serie A",
		"GARCÍA PARDO, ÍÑIGO":                                       "García Pardo, Íñigo",
		"AT&T INC":                                                  "AT&T INC",
		"Banco de Valdebrisa, S.A.":                                 "Banco de Valdebrisa, S.A.",
		"eDREAMS ODIGEO, S.A.":                                      "eDREAMS ODIGEO, S.A.",
		"LÍNEA ASEGURADORA, S.A., COMPAÑÍA DE SEGUROS Y REASEGUROS": "Línea Aseguradora, S.A., Compañía de Seguros y Reaseguros",
		"\xff\xfeBANCO":                                             "\xff\xfeBanco",
	} {
		if got := disclosure.DisplayName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
