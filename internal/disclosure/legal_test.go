package disclosure_test

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestIsLegalEntity(t *testing.T) {
	for name, want := range map[string]bool{
		"Faro Norte Investment Management (UK) Limited": true,
		"Atalaya Capital Management, LLC":               true,
		"MOLINO VIEJO , A.G.":                           true,
		"CIGÜEÑA BLANCA, S.A.U.":                        true,
		"Fundación Bancaria Ribera":                     true,
		"ZÜRCHBERGER KANTONALBANK":                      true,
		"Caisse de dépôt du Lac":                        true,
		"INVERSIONES TRES RÍOS SL":                      true,
		"SERRANO QUINTANA , MARÍA DEL MAR":              false,
		"Luis Alberto Ferrer-Soria":                     false,
		"GIL , S. A.":                                   false,
		"GIL ROCA , A.":                                 false,
		"Fuente Clara":                                  false,
		"DE SA , PEDRO":                                 false,
		"Pedro de Sá":                                   false,
		"PEDRO DE SA":                                   false,
		"MOLINO VIEJO , S.A.":                           true,
		"Molino Viejo Bank":                             true,
		"ACCION CONCERTADA":                             false,
		"":                                              false,
	} {
		if got := disclosure.IsLegalEntity(name); got != want {
			t.Errorf("IsLegalEntity(%q) = %v, want %v", name, got, want)
		}
	}
}
