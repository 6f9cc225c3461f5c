package extract

import "testing"

func TestLanguage(t *testing.T) {
	for want, text := range map[string]string{
		"es": "La sociedad comunica que su consejo de administración ha acordado hoy convocar la junta general de accionistas.",
		"ca": "La societat comunica que el seu consell d'administració ha acordat avui convocar la junta general dels accionistes, amb aquest ordre.",
		"gl": "A sociedade comunica que o seu consello de administración acordou hoxe convocar a xunta xeral dos accionistas, así como unha ampliación do capital.",
		"eu": "Sozietateak jakinarazten du administrazio kontseiluak gaur erabaki duela batzar orokorra deitzea eta hau izan da erabakia, baina ez da behin betikoa.",
		"en": "The company announces that its board of directors has resolved today to call the general meeting of shareholders.",
		"pt": "A sociedade comunica que o seu conselho de administração deliberou hoje convocar a assembleia geral dos acionistas, com uma ordem do dia.",
		"fr": "La société annonce que son conseil d'administration a décidé aujourd'hui de convoquer l'assemblée générale des actionnaires pour une date.",
		"":   "1.234,5 2.345,6 EUR 2025",
	} {
		if got := Language([]Page{{Text: text}}); got != want {
			t.Errorf("Language(%q): got %q, want %q", text, got, want)
		}
	}
}
