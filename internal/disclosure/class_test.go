package disclosure_test

import (
	"slices"
	"testing"

	"pregon/internal/disclosure"
)

func TestEUClass(t *testing.T) {
	const buyback = "Programas de recompra de acciones, estabilización y autocartera"
	tests := []struct {
		series   disclosure.Type
		category string
		want     disclosure.EUClass
	}{
		{disclosure.IP, "", "2.2"},
		{disclosure.IP, "Sobre resultados", "2.2"},
		{disclosure.IP, buyback, "2.2"},
		{disclosure.OIR, "Informes financieros anuales y de auditoría", "1.1"},
		{disclosure.OIR, "INFORMES FINANCIEROS ANUALES Y DE AUDITORIA ", "1.1"},
		{disclosure.OIR, "Informes financieros semestrales y de auditoría / revisiones limitadas", "1.2"},
		{disclosure.OIR, "Total número de derechos de voto y de capital", "2.5"},
		{disclosure.OIR, "Convocatoria de Junta o Asamblea", "3.1"},
		{disclosure.OIR, "Otra información relevante - Sobre negocio y situación financiera", "3.1"},
		{disclosure.OIR, "Otra información relevante - Informes financieros anuales y de auditoría", "1.1"},
		{disclosure.OIR, "Total número de derechos de voto y de capital - Sobre gobierno corporativo", "2.5"},
		{disclosure.OIR, "Total número de derechos de voto y de capital - Informes financieros anuales y de auditoría", ""},
		{disclosure.OIR, buyback, ""}, // a programme, or purchases
		{disclosure.OIR, buyback + " - Otra información relevante", ""},
		{disclosure.OIR, "Sobre suspensiones, levantamientos y exclusiones de negociación", ""}, // by the regulator
		{disclosure.OIR, "Sobre dividendos", ""},                                                // not known
		{disclosure.OIR, "Otra información relevante - Sobre dividendos", ""},
		{disclosure.OIR, "", ""},
		{disclosure.HR, "Informes financieros anuales y de auditoría", ""},
		{disclosure.HR, "Fusión de IIC", ""},
	}
	for _, tt := range tests {
		r := disclosure.Report{Type: tt.series, Category: tt.category}
		if got := r.EUClass(); got != tt.want {
			t.Errorf("%s %q has the class %q, want %q", tt.series, tt.category, got, tt.want)
		}
	}
	for _, category := range disclosure.Categories {
		r := disclosure.Report{Type: disclosure.OIR, Category: category}
		if class := r.EUClass(); class != "" && !slices.Contains(disclosure.EUClasses, class) {
			t.Errorf("%s has the class %q", category, class)
		}
	}
}
