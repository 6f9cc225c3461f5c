package headline

import "pregon/internal/disclosure"

// inSpanish writes the sentence of a fact.
var inSpanish = map[disclosure.FactKind]func(*values) string{
	disclosure.Dividend:          dividendInSpanish,
	disclosure.Meeting:           meetingInSpanish,
	disclosure.Results:           resultsInSpanish,
	disclosure.BuybackProgramme:  programmeInSpanish,
	disclosure.BuybackTrades:     tradesInSpanish,
	disclosure.VotingRights:      votingRightsInSpanish,
	disclosure.Capital:           capitalInSpanish,
	disclosure.Suspension:        suspensionInSpanish,
	disclosure.Board:             boardInSpanish,
	disclosure.Rating:            ratingInSpanish,
	disclosure.Takeover:          takeoverInSpanish,
	disclosure.LiquidityContract: liquidityInSpanish,
	disclosure.Securitisation:    securitisationInSpanish,
}

func dividendInSpanish(v *values) string {
	form := v.choice("form", map[string]string{"cash": " en efectivo", "scrip": " en acciones (scrip)"})
	gross := v.money("gross_per_share")
	dates := list(
		affix("fecha ex-dividendo el ", v.date("ex_date"), ""),
		affix("registro el ", v.date("record_date"), ""),
		affix("pago el ", v.date("payment_date"), ""),
	)
	switch {
	case gross != "":
		return "Dividendo bruto" + form + " de " + gross + " por acción" + affix("; ", dates, "")
	case form+dates != "":
		return "Dividendo" + form + affix(": ", dates, "")
	}
	return ""
}

func meetingInSpanish(v *values) string {
	kind := v.choice("meeting_kind", map[string]string{
		"ordinary":      "Junta general ordinaria",
		"extraordinary": "Junta general extraordinaria",
		"bondholders":   "Asamblea de obligacionistas",
	})
	calls := list(
		affix("primera convocatoria el ", v.date("first_call"), ""),
		affix("segunda convocatoria el ", v.date("second_call"), ""),
	)
	if kind == "" && calls != "" {
		kind = "Junta o asamblea"
	}
	return kind + affix(": ", calls, "")
}

func resultsInSpanish(v *values) string {
	part, year := v.period()
	names := map[string]string{
		"H1": "del primer semestre de",
		"H2": "del segundo semestre de",
		"9M": "de los nueve primeros meses de",
		"Q1": "del primer trimestre de",
		"Q2": "del segundo trimestre de",
		"Q3": "del tercer trimestre de",
		"Q4": "del cuarto trimestre de",
		"":   "de",
	}
	period := affix(" "+names[part]+" ", year, "")
	figures := list(
		affix("ingresos de ", v.money("revenue"), ""),
		v.gainOrLoss("ebitda", "EBITDA de ", "EBITDA negativo de ", "EBITDA de "),
		v.gainOrLoss("net_profit", "beneficio neto de ", "pérdida neta de ", "resultado neto de "),
	)
	if period+figures == "" {
		return ""
	}
	return "Resultados" + period + affix(": ", figures, "")
}

// gainOrLoss writes an amount with words that say its sign.
func (v *values) gainOrLoss(field, gain, loss, zero string) string {
	s := v.signed(field)
	switch {
	case s == "":
		return ""
	case s[0] == '-':
		return affix(loss, v.amount(s[1:]), "")
	case s == "0":
		return affix(zero, v.amount(s), "")
	}
	return affix(gain, v.amount(s), "")
}

func programmeInSpanish(v *values) string {
	event := v.choice("event", map[string]string{
		"start":      "Inicio de un programa",
		"end":        "Fin de un programa",
		"suspension": "Suspensión de un programa",
		"resumption": "Reanudación de un programa",
		"change":     "Modificación de un programa",
	})
	limit := v.money("max_amount")
	shares := v.count("max_shares", "acción", "acciones")
	if limit != "" && shares != "" {
		limit += " y "
	}
	limit = affix(" por un máximo de ", limit+shares, "")
	end := affix("; fecha de fin, ", v.date("ends_on"), "")
	if event+limit+end == "" {
		return ""
	}
	if event == "" {
		event = "Programa"
	}
	return event + " de recompra de acciones" + limit + end
}

func tradesInSpanish(v *values) string {
	shares := v.count("shares", "acción", "acciones")
	amount := affix(" por ", v.money("amount"), "")
	days := affix(" ", v.span(), "")
	if shares+amount+days == "" {
		return ""
	}
	if shares == "" {
		shares = "acciones"
	}
	return "Recompra de " + shares + amount + days
}

func votingRightsInSpanish(v *values) string {
	totals := list(
		v.count("shares", "acción", "acciones"),
		v.count("voting_rights", "derecho de voto", "derechos de voto"),
		affix("capital social de ", v.money("capital"), ""),
	)
	if totals == "" {
		return ""
	}
	return "Totales: " + list(totals, affix("a ", v.date("as_of"), ""))
}

func capitalInSpanish(v *values) string {
	action := v.choice("action", map[string]string{"increase": "Aumento de capital", "reduction": "Reducción de capital"})
	details := affix("por un nominal de ", v.money("amount"), "")
	if v.fields["action"] != "reduction" {
		details = list(
			details,
			affix("con ", v.count("new_shares", "acción nueva", "acciones nuevas"), ""),
			affix("a un precio de ", v.money("price"), " por acción"),
		)
	}
	details = affix(" ", details, "") + affix("; capital resultante de ", v.money("capital_after"), "")
	switch {
	case action+details == "":
		return ""
	case action == "":
		return "Operación de capital" + details
	}
	return action + details
}

func suspensionInSpanish(v *values) string {
	action := v.choice("action", map[string]string{
		"suspended": "Negociación suspendida",
		"lifted":    "Suspensión de la negociación levantada",
		"excluded":  "Exclusión de la negociación",
	})
	if action == "" {
		return ""
	}
	return action + affix(" con efectos del ", v.date("at"), "")
}

func boardInSpanish(v *values) string {
	action := v.choice("action", map[string]string{
		"appointed": "Nombramiento",
		"reelected": "Reelección",
		"resigned":  "Dimisión",
		"removed":   "Cese",
	})
	person := affix(" de ", v.name("person"), "")
	role := affix(" como ", v.roleInSpanish(), "")
	if action == "" || person+role == "" {
		return ""
	}
	return action + person + role + affix(", con efectos del ", v.date("effective"), "")
}

func ratingInSpanish(v *values) string {
	rating := v.name("rating")
	agency := affix(" por ", v.name("agency"), "")
	outlook := affix("perspectiva ", v.choice("outlook", outlooksInSpanish), "")
	const subject = "Calificación crediticia"
	switch v.fields["action"] {
	case "upgrade":
		return list(subject+" elevada"+affix(" a ", rating, "")+agency, outlook)
	case "downgrade":
		return list(subject+" rebajada"+affix(" a ", rating, "")+agency, outlook)
	case "affirmed":
		return list(subject+" confirmada"+affix(" en ", rating, "")+agency, outlook)
	case "review":
		return list(subject+affix(" ", rating, "")+" puesta en revisión"+agency, outlook)
	case "assigned":
		return list(subject+affix(" ", rating, "")+" asignada"+agency, outlook)
	case "withdrawn":
		return subject + affix(" ", rating, "") + " retirada" + agency
	}
	if rating+outlook == "" {
		return ""
	}
	return list(subject+affix(" ", rating, "")+affix(" de ", v.name("agency"), ""), outlook)
}

var outlooksInSpanish = map[string]string{
	"stable":     "estable",
	"positive":   "positiva",
	"negative":   "negativa",
	"developing": "en desarrollo",
}

func takeoverInSpanish(v *values) string {
	between := affix(" de ", v.name("bidder"), "") + affix(" sobre ", v.name("target"), "")
	terms := affix(", a ", v.money("price"), " por acción") + affix("; aceptación del ", v.percent("acceptance"), "")
	action := v.choice("action", map[string]string{
		"announced":  " anunciada",
		"authorised": " autorizada",
		"accepted":   " aceptada",
		"withdrawn":  " retirada",
	})
	switch {
	case v.fields["action"] == "result":
		return "Resultado de la oferta pública de adquisición" + between + terms
	case between+action+terms == "":
		return ""
	}
	return "Oferta pública de adquisición" + between + action + terms
}

func liquidityInSpanish(v *values) string {
	days := affix(" ", v.span(), "")
	bought := v.count("bought", "acción comprada", "acciones compradas")
	sold := v.count("sold", "acción vendida", "acciones vendidas")
	balance := v.count("balance_shares", "acción", "acciones")
	cash := affix("", v.money("balance_cash"), " en efectivo")
	if balance != "" && cash != "" {
		balance += " y "
	}
	figures := list(bought, sold, affix("saldo de ", balance+cash, ""))
	if days+figures == "" {
		return ""
	}
	return "Contrato de liquidez" + days + affix(": ", figures, "")
}

func securitisationInSpanish(v *values) string {
	return affix("Pago a los tenedores de los bonos del fondo el ", v.date("payment_date"), "")
}
