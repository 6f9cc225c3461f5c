package headline

import "pregon/internal/disclosure"

// inLines returns the parts of the line of a fact, some of which may be empty. The first
// are the most important: a line that is too long loses its last.
var inLines = map[disclosure.FactKind]func(*values) []string{
	disclosure.Dividend:          dividendLine,
	disclosure.Meeting:           meetingLine,
	disclosure.Results:           resultsLine,
	disclosure.BuybackProgramme:  programmeLine,
	disclosure.BuybackTrades:     tradesLine,
	disclosure.VotingRights:      votingRightsLine,
	disclosure.Capital:           capitalLine,
	disclosure.Suspension:        suspensionLine,
	disclosure.Board:             boardLine,
	disclosure.Rating:            ratingLine,
	disclosure.Takeover:          takeoverLine,
	disclosure.LiquidityContract: liquidityLine,
	disclosure.Securitisation:    securitisationLine,
}

func dividendLine(v *values) []string {
	gross := v.money("gross_per_share")
	ex := affix("ex ", v.date("ex_date"), "")
	if ex == "" {
		ex = affix(v.say("registro ", "record "), v.date("record_date"), "")
	}
	paid := affix(v.say("pago ", "paid "), v.date("payment_date"), "")
	if gross == "" && ex+paid != "" {
		gross = v.say("dividendo", "dividend")
	}
	return []string{gross, ex, paid}
}

func meetingLine(v *values) []string {
	kind := v.choice("meeting_kind", map[string]string{
		"ordinary":      v.say("junta ordinaria", "ordinary meeting"),
		"extraordinary": v.say("junta extraordinaria", "extraordinary meeting"),
		"bondholders":   v.say("asamblea de obligacionistas", "meeting of bondholders"),
	})
	first := v.date("first_call")
	second := affix(v.say("segunda convocatoria ", "second call "), v.date("second_call"), "")
	if kind == "" && first+second != "" {
		kind = v.say("junta o asamblea", "meeting")
	}
	return []string{kind, first, second}
}

func resultsLine(v *values) []string {
	part, year := v.period()
	part = map[string]string{
		"H1": v.say("1S ", "H1 "),
		"H2": v.say("2S ", "H2 "),
		"9M": "9M ",
		"Q1": v.say("1T ", "Q1 "),
		"Q2": v.say("2T ", "Q2 "),
		"Q3": v.say("3T ", "Q3 "),
		"Q4": v.say("4T ", "Q4 "),
	}[part]
	figures := present([]string{
		affix(v.say("ingresos ", "revenue "), v.money("revenue"), ""),
		affix("EBITDA ", v.amount(v.signed("ebitda")), ""),
		v.gainOrLoss(
			"net_profit",
			v.say("beneficio neto ", "net profit "),
			v.say("pérdida neta ", "net loss "),
			v.say("resultado neto ", "net result "),
		),
	})
	if len(figures) == 0 {
		return nil // the title of the report says as much
	}
	return append([]string{affix(part, year, "")}, figures...)
}

func programmeLine(v *values) []string {
	return []string{
		v.choice("event", map[string]string{
			"start":      v.say("inicio de la recompra", "buy-back starts"),
			"end":        v.say("fin de la recompra", "buy-back ends"),
			"suspension": v.say("recompra suspendida", "buy-back suspended"),
			"resumption": v.say("recompra reanudada", "buy-back resumed"),
			"change":     v.say("recompra modificada", "buy-back changed"),
		}),
		affix(v.say("máx. ", "max. "), v.money("max_amount"), ""),
		affix(v.say("máx. ", "max. "), v.count("max_shares", v.say("acción", "share"), v.say("acciones", "shares")), ""),
		affix(v.say("fin ", "end "), v.fullDate("ends_on"), ""),
	}
}

func tradesLine(v *values) []string {
	shares := v.count("shares", v.say("acción", "share"), v.say("acciones", "shares"))
	amount := v.money("amount")
	if shares+amount == "" {
		return nil
	}
	return []string{shares, amount, v.shortSpan()}
}

func votingRightsLine(v *values) []string {
	shares := v.count("shares", v.say("acción", "share"), v.say("acciones", "shares"))
	votes := v.count("voting_rights", v.say("voto", "vote"), v.say("votos", "votes"))
	capital := affix("capital ", v.money("capital"), "")
	if shares+votes+capital == "" {
		return nil
	}
	return []string{shares, votes, capital, affix(v.say("a ", "as of "), v.fullDate("as_of"), "")}
}

func capitalLine(v *values) []string {
	parts := []string{
		v.choice("action", map[string]string{
			"increase":  v.say("aumento de capital", "capital increase"),
			"reduction": v.say("reducción de capital", "capital reduction"),
		}),
		affix("nominal ", v.money("amount"), ""),
	}
	if v.fields["action"] != "reduction" {
		parts = append(parts,
			v.count("new_shares", v.say("acción nueva", "new share"), v.say("acciones nuevas", "new shares")),
			affix("", v.money("price"), v.say(" por acción", " per share")),
		)
	}
	return append(parts, affix(v.say("capital resultante ", "capital afterwards "), v.money("capital_after"), ""))
}

func suspensionLine(v *values) []string {
	action := v.choice("action", map[string]string{
		"suspended": v.say("negociación suspendida", "trading suspended"),
		"lifted":    v.say("suspensión levantada", "suspension lifted"),
		"excluded":  v.say("exclusión de negociación", "exclusion from trading"),
	})
	if action == "" {
		return nil
	}
	return []string{action, v.date("at")}
}

func boardLine(v *values) []string {
	action := v.choice("action", map[string]string{
		"appointed": v.say("nombramiento", "appointed"),
		"reelected": v.say("reelección", "re-elected"),
		"resigned":  v.say("dimisión", "resigned"),
		"removed":   v.say("cese", "removed"),
	})
	person := v.name("person")
	role := v.roleInEnglish()
	if v.language == spanish {
		role = v.roleInSpanish()
	}
	if action == "" || person+role == "" {
		return nil
	}
	return []string{action, person, role}
}

func ratingLine(v *values) []string {
	rating := v.name("rating")
	action := v.choice("action", map[string]string{
		"upgrade":   v.say("sube a ", "upgraded to "),
		"downgrade": v.say("baja a ", "downgraded to "),
		"affirmed":  v.say("confirmada en ", "affirmed at "),
		"review":    v.say("en revisión: ", "under review: "),
		"assigned":  v.say("asignada: ", "assigned: "),
		"withdrawn": v.say("retirada: ", "withdrawn: "),
	})
	outlook := affix("", v.choice("outlook", outlooksInEnglish), " outlook")
	if v.language == spanish {
		outlook = affix("perspectiva ", v.choice("outlook", outlooksInSpanish), "")
	}
	if v.fields["action"] == "withdrawn" {
		outlook = ""
	}
	if rating+outlook == "" {
		return nil
	}
	return []string{affix(action, rating, ""), outlook, v.name("agency")}
}

func takeoverLine(v *values) []string {
	action := v.choice("action", map[string]string{
		"announced":  v.say("OPA anunciada", "bid announced"),
		"authorised": v.say("OPA autorizada", "bid authorised"),
		"accepted":   v.say("OPA aceptada", "bid accepted"),
		"withdrawn":  v.say("OPA retirada", "bid withdrawn"),
		"result":     v.say("resultado de la OPA", "result of the bid"),
	})
	price := affix("", v.money("price"), v.say(" por acción", " per share"))
	acceptance := affix(v.say("aceptación ", "acceptance "), v.percent("acceptance"), "")
	target := affix(v.say("sobre ", "for "), v.name("target"), "")
	bidder := affix(v.say("de ", "by "), v.name("bidder"), "")
	if action == "" && price+acceptance+target+bidder != "" {
		action = v.say("OPA", "bid")
	}
	return []string{action, price, acceptance, target, bidder}
}

func liquidityLine(v *values) []string {
	bought := v.count("bought", v.say("acción comprada", "share bought"), v.say("acciones compradas", "shares bought"))
	sold := v.count("sold", v.say("acción vendida", "share sold"), v.say("acciones vendidas", "shares sold"))
	balance := v.count("balance_shares", v.say("acción", "share"), v.say("acciones", "shares"))
	balance = affix(v.say("saldo ", "balance "), balance, "")
	cash := affix(v.say("efectivo ", "cash "), v.money("balance_cash"), "")
	if bought+sold+balance+cash == "" {
		return nil
	}
	return []string{bought, sold, balance, cash, v.shortSpan()}
}

func securitisationLine(v *values) []string {
	return []string{affix(v.say("pago ", "payment "), v.date("payment_date"), "")}
}
