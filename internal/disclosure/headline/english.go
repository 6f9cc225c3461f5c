package headline

import "pregon/internal/disclosure"

// inEnglish writes the sentence of a fact.
var inEnglish = map[disclosure.FactKind]func(*values) string{
	disclosure.Dividend:          dividendInEnglish,
	disclosure.Meeting:           meetingInEnglish,
	disclosure.Results:           resultsInEnglish,
	disclosure.BuybackProgramme:  programmeInEnglish,
	disclosure.BuybackTrades:     tradesInEnglish,
	disclosure.VotingRights:      votingRightsInEnglish,
	disclosure.Capital:           capitalInEnglish,
	disclosure.Suspension:        suspensionInEnglish,
	disclosure.Board:             boardInEnglish,
	disclosure.Rating:            ratingInEnglish,
	disclosure.Takeover:          takeoverInEnglish,
	disclosure.LiquidityContract: liquidityInEnglish,
	disclosure.Securitisation:    securitisationInEnglish,
}

func dividendInEnglish(v *values) string {
	head := "Dividend"
	form := v.choice("form", map[string]string{"cash": "Cash dividend", "scrip": "Scrip dividend"})
	if form != "" {
		head = form
	}
	gross := v.money("gross_per_share")
	dates := list(
		affix("ex-date ", v.date("ex_date"), ""),
		affix("record date ", v.date("record_date"), ""),
		affix("payment ", v.date("payment_date"), ""),
	)
	switch {
	case gross != "":
		return head + " of " + gross + " gross per share" + affix("; ", dates, "")
	case form+dates != "":
		return head + affix(": ", dates, "")
	}
	return ""
}

func meetingInEnglish(v *values) string {
	kind := v.choice("meeting_kind", map[string]string{
		"ordinary":      "Ordinary general meeting",
		"extraordinary": "Extraordinary general meeting",
		"bondholders":   "Meeting of bondholders",
	})
	calls := list(
		affix("first call ", v.date("first_call"), ""),
		affix("second call ", v.date("second_call"), ""),
	)
	if kind == "" && calls != "" {
		kind = "Meeting"
	}
	return kind + affix(": ", calls, "")
}

func resultsInEnglish(v *values) string {
	part, year := v.period()
	names := map[string]string{
		"H1": "for the first half of",
		"H2": "for the second half of",
		"9M": "for the first nine months of",
		"Q1": "for the first quarter of",
		"Q2": "for the second quarter of",
		"Q3": "for the third quarter of",
		"Q4": "for the fourth quarter of",
		"":   "for",
	}
	period := affix(" "+names[part]+" ", year, "")
	figures := list(
		affix("revenue of ", v.money("revenue"), ""),
		v.gainOrLoss("ebitda", "EBITDA of ", "negative EBITDA of ", "EBITDA of "),
		v.gainOrLoss("net_profit", "net profit of ", "net loss of ", "net result of "),
	)
	if period+figures == "" {
		return ""
	}
	return "Results" + period + affix(": ", figures, "")
}

func programmeInEnglish(v *values) string {
	event := v.choice("event", map[string]string{
		"start":      "Start of a share buy-back programme",
		"end":        "End of a share buy-back programme",
		"suspension": "Suspension of a share buy-back programme",
		"resumption": "Resumption of a share buy-back programme",
		"change":     "Change to a share buy-back programme",
	})
	limit := v.money("max_amount")
	shares := v.count("max_shares", "share", "shares")
	if limit != "" && shares != "" {
		limit += " and "
	}
	limit = affix(" of up to ", limit+shares, "")
	end := affix("; end date ", v.date("ends_on"), "")
	if event+limit+end == "" {
		return ""
	}
	if event == "" {
		event = "Share buy-back programme"
	}
	return event + limit + end
}

func tradesInEnglish(v *values) string {
	shares := v.count("shares", "share", "shares")
	amount := affix(" for ", v.money("amount"), "")
	days := affix(" ", v.span(), "")
	if shares+amount+days == "" {
		return ""
	}
	if shares == "" {
		shares = "shares"
	}
	return "Buy-back of " + shares + amount + days
}

func votingRightsInEnglish(v *values) string {
	totals := list(
		v.count("shares", "share", "shares"),
		v.count("voting_rights", "voting right", "voting rights"),
		affix("share capital of ", v.money("capital"), ""),
	)
	if totals == "" {
		return ""
	}
	return "Totals: " + list(totals, affix("as of ", v.date("as_of"), ""))
}

func capitalInEnglish(v *values) string {
	action := v.choice("action", map[string]string{"increase": "Capital increase", "reduction": "Capital reduction"})
	details := affix("of ", v.money("amount"), " nominal")
	if v.fields["action"] != "reduction" {
		details = list(
			details,
			affix("with ", v.count("new_shares", "new share", "new shares"), ""),
			affix("at ", v.money("price"), " per share"),
		)
	}
	details = affix(" ", details, "") + affix("; capital afterwards ", v.money("capital_after"), "")
	switch {
	case action+details == "":
		return ""
	case action == "":
		return "Capital operation" + details
	}
	return action + details
}

func suspensionInEnglish(v *values) string {
	action := v.choice("action", map[string]string{
		"suspended": "Trading suspended",
		"lifted":    "Suspension of trading lifted",
		"excluded":  "Exclusion from trading",
	})
	if action == "" {
		return ""
	}
	return action + affix(" with effect from ", v.date("at"), "")
}

func boardInEnglish(v *values) string {
	action := v.choice("action", map[string]string{
		"appointed": "Appointment",
		"reelected": "Re-election",
		"resigned":  "Resignation",
		"removed":   "Removal",
	})
	person := affix(" of ", v.name("person"), "")
	role := affix(" as ", v.roleInEnglish(), "")
	if action == "" || person+role == "" {
		return ""
	}
	return action + person + role + affix(", effective ", v.date("effective"), "")
}

func ratingInEnglish(v *values) string {
	rating := v.name("rating")
	agency := affix(" by ", v.name("agency"), "")
	outlook := affix("", v.choice("outlook", outlooksInEnglish), " outlook")
	const subject = "Credit rating"
	switch v.fields["action"] {
	case "upgrade":
		return list(subject+" upgraded"+affix(" to ", rating, "")+agency, outlook)
	case "downgrade":
		return list(subject+" downgraded"+affix(" to ", rating, "")+agency, outlook)
	case "affirmed":
		return list(subject+" affirmed"+affix(" at ", rating, "")+agency, outlook)
	case "review":
		return list(subject+affix(" ", rating, "")+" placed under review"+agency, outlook)
	case "assigned":
		return list(subject+affix(" ", rating, "")+" assigned"+agency, outlook)
	case "withdrawn":
		return subject + affix(" ", rating, "") + " withdrawn" + agency
	}
	if rating+outlook == "" {
		return ""
	}
	return list(subject+affix(" ", rating, "")+affix(" of ", v.name("agency"), ""), outlook)
}

var outlooksInEnglish = map[string]string{
	"stable":     "stable",
	"positive":   "positive",
	"negative":   "negative",
	"developing": "developing",
}

func takeoverInEnglish(v *values) string {
	between := affix(" by ", v.name("bidder"), "") + affix(" for ", v.name("target"), "")
	terms := affix(", at ", v.money("price"), " per share") + affix("; acceptance of ", v.percent("acceptance"), "")
	action := v.choice("action", map[string]string{
		"announced":  " announced",
		"authorised": " authorised",
		"accepted":   " accepted",
		"withdrawn":  " withdrawn",
	})
	switch {
	case v.fields["action"] == "result":
		return "Result of the takeover bid" + between + terms
	case between+action+terms == "":
		return ""
	}
	return "Takeover bid" + between + action + terms
}

func liquidityInEnglish(v *values) string {
	days := affix(" ", v.span(), "")
	bought := v.count("bought", "share bought", "shares bought")
	sold := v.count("sold", "share sold", "shares sold")
	balance := v.count("balance_shares", "share", "shares")
	cash := affix("", v.money("balance_cash"), " in cash")
	if balance != "" && cash != "" {
		balance += " and "
	}
	figures := list(bought, sold, affix("balance of ", balance+cash, ""))
	if days+figures == "" {
		return ""
	}
	return "Liquidity contract" + days + affix(": ", figures, "")
}

func securitisationInEnglish(v *values) string {
	return affix("Payment to the holders of the fund's bonds on ", v.date("payment_date"), "")
}
