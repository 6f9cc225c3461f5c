package fact

import (
	"slices"
)

// dividendDrafts makes facts of values: one if all places of the document agree on the
// amount, else one for each amount with dates of its own.
func (r *reading) dividendDrafts(all []dividendValue) (drafts []draft) {
	if drafts := r.equalInstalments(all); len(drafts) > 1 {
		return drafts
	}
	amounts := amountsOf(all)
	inParts := r.isPaidInParts()
	if inParts && len(amounts) < 2 {
		return nil // the amount of each payment is not known
	}
	if len(amounts) > 1 && (r.sharesDates(amounts) || r.listsClasses(all, amounts)) {
		return r.dividendsWithSameDates(all, amounts)
	}
	if len(amounts) > 1 {
		all = r.withoutLeadingDates(all, amounts)
	}
	ofClasses := r.areClasses(amounts)
	for _, amount := range amounts {
		d := newDraft()
		d.set("gross_per_share", amount.text, amount.at)
		d.set("currency", amount.currency, amount.at)
		for _, field := range dividendDateFields {
			var dates []candidate
			for _, v := range all {
				if v.field == field && (len(amounts) == 1 || r.belongs(v.at, amount.at, amounts)) {
					dates = append(dates, v.candidate)
				}
			}
			if !d.setAgreed(field, dates) && len(dates) == 0 && ofClasses {
				d.setAgreed(field, datesFor(field, all))
			}
		}
		if len(amounts) > 1 && len(d.fields) == 2 {
			continue // another amount, but not certainly another dividend
		}
		r.setForm(&d)
		drafts = append(drafts, d)
	}
	if len(drafts) == 1 && r.isOneOfSeveral(drafts[0], amounts) {
		return nil
	}
	return drafts
}

// isOneOfSeveral reports whether the sentence of a dividend has another amount, and does not say
// that the one is what is left of the other.
func (r *reading) isOneOfSeveral(d draft, amounts []dividendValue) bool {
	i := d.proof["gross_per_share"].part
	p := &r.parts[i]
	return p.cells == nil && amountsIn(amounts, i) > 1 && !p.has("remaining part", "final dividend")
}

// isPaidInParts reports whether the document says that the dividend is paid in several parts.
func (r *reading) isPaidInParts() bool {
	return anyPart(r.parts, func(p *part) bool {
		return !p.aside && p.has("instalments") && len(clausesOf(p).doubts) == 0
	})
}

// equalInstalments returns the payments of a dividend that is paid in equal parts, each in a
// sentence of its own with its amount and its date of payment.
func (r *reading) equalInstalments(all []dividendValue) (drafts []draft) {
	amounts := amountsOf(all)
	if len(amounts) != 1 {
		return nil
	}
	payments := map[string]bool{}
	seen := map[int]bool{}
	for _, v := range all {
		if len(seen) > mostFormRows {
			return nil // a list, which would cost too much
		}
		if v.field != "gross_per_share" || v.read != amounts[0].read || seen[v.at.part] {
			continue
		}
		seen[v.at.part] = true
		d := newDraft()
		d.set("gross_per_share", v.text, v.at)
		d.set("currency", v.currency, v.at)
		for _, field := range dividendDateFields {
			d.setAgreed(field, datesFor(field, valuesOfPart(all, v.at.part)))
		}
		payment := d.fields["payment_date"]
		if payment == "" || payments[payment] {
			continue
		}
		payments[payment] = true
		r.setForm(&d)
		drafts = append(drafts, d)
	}
	if len(drafts) > mostDividends {
		return nil
	}
	return drafts
}

// valuesOfPart returns the values of a part.
func valuesOfPart(all []dividendValue, i int) (found []dividendValue) {
	for _, v := range all {
		if v.at.part == i {
			found = append(found, v)
		}
	}
	return found
}

// sharesDates reports whether a sentence gives the amounts of several classes of shares, or of
// several dividends that are paid together: "ambos pagaderos el 14 de mayo".
func (r *reading) sharesDates(amounts []dividendValue) bool {
	i := amounts[0].at.part
	p := &r.parts[i]
	if p.cells != nil || amountsIn(amounts, i) != len(amounts) {
		return false
	}
	last := amounts[len(amounts)-1].at.to
	if p.hasBetween(last, len(p.tokens), "both calls") {
		return true
	}
	for _, a := range amounts {
		if !p.hasBetween(a.at.to, a.at.to+8, "share class") {
			return false
		}
	}
	return true
}

// listsClasses reports whether each amount stands in a line of its own with its class of shares, and the
// dates are given once for all: "Acciones de la clase A: 0,41 euros brutos por acción".
func (r *reading) listsClasses(all, amounts []dividendValue) bool {
	const apart = 3 // parts between two lines
	names := map[string]bool{}
	for n, a := range amounts {
		p := &r.parts[a.at.part]
		class, ok := firstCue(p.all("share class"), 0, len(p.tokens))
		isLine := p.cells == nil && !p.isLong() && ok && amountsIn(amounts, a.at.part) == 1
		if !isLine || n > 0 && a.at.part-amounts[n-1].at.part > apart {
			return false
		}
		names[p.word(class.from)+" "+p.mark(class.to)] = true
	}
	for _, v := range all {
		if v.field != "gross_per_share" && amountsIn(amounts, v.at.part) > 0 {
			return false // a date of one class only
		}
	}
	return len(names) == len(amounts)
}

// areClasses reports whether each amount stands in a row of its own with its class of shares. Dates that
// the document gives once are those of all classes.
func (r *reading) areClasses(amounts []dividendValue) bool {
	for _, a := range amounts {
		p := &r.parts[a.at.part]
		if p.cells == nil || amountsIn(amounts, a.at.part) > 1 || !p.hasBetween(0, p.cells[0].to, "share class") {
			return false
		}
	}
	return len(amounts) > 1
}

// dividendsWithSameDates makes facts of amounts that share all dates of the document.
func (r *reading) dividendsWithSameDates(all, amounts []dividendValue) (drafts []draft) {
	for _, amount := range amounts {
		d := newDraft()
		d.set("gross_per_share", amount.text, amount.at)
		d.set("currency", amount.currency, amount.at)
		for _, field := range dividendDateFields {
			dates := datesFor(field, all)
			if len(dates) > 0 && !d.setAgreed(field, dates) {
				return nil
			}
		}
		r.setForm(&d)
		drafts = append(drafts, d)
	}
	return drafts
}

// amountsOf returns the different amounts of dividends: those of which the document says
// that they are before tax and for each share, or else all.
func amountsOf(all []dividendValue) (amounts []dividendValue) {
	sure := slices.ContainsFunc(all, func(v dividendValue) bool { return v.share })
	for _, v := range all {
		if v.field != "gross_per_share" || sure && !v.share {
			continue
		}
		known := slices.ContainsFunc(amounts, func(a dividendValue) bool { return a.read == v.read })
		if !known {
			amounts = append(amounts, v)
		}
	}
	mixed := !sure && slices.ContainsFunc(amounts, func(v dividendValue) bool { return v.strong }) &&
		slices.ContainsFunc(amounts, func(v dividendValue) bool { return !v.strong })
	if len(amounts) > mostDividends || mixed || sure && hasOtherBeside(all, amounts) {
		return nil
	}
	return amounts
}

// hasOtherBeside reports whether another amount before tax stands in the sentence of an
// amount for each share: the one may be the whole of the other.
func hasOtherBeside(all, amounts []dividendValue) bool {
	for _, v := range all {
		if !v.strong || v.share {
			continue
		}
		beside := func(a dividendValue) bool { return a.at.part == v.at.part && a.read != v.read }
		if slices.ContainsFunc(amounts, beside) {
			return true
		}
	}
	return false
}

// mostDividends is the number of dividends that one document announces. More are a list
// of past ones.
const mostDividends = 4

// belongs reports whether a date belongs to one of several amounts: it is in its row or
// paragraph, and no other amount is.
func (r *reading) belongs(date, amount place, amounts []dividendValue) bool {
	if date.part == amount.part && r.parts[date.part].cells == nil && amountsIn(amounts, amount.part) > 1 {
		return isNextTo(date, amount, amounts)
	}
	if r.parts[date.part].cells == nil && amountsIn(amounts, date.part) == 1 {
		return date.part == amount.part // "Primer pago: 0,15 euros, el 7 de mayo. Segundo pago: 0,10 euros"
	}
	for _, other := range amounts {
		if other.at != amount && r.together(other.at, amount) {
			return false
		}
	}
	return r.together(date, amount)
}

// withoutLeadingDates drops the dates of sentences with several amounts whose first date is
// before the first amount: there a date may belong to the amount behind it.
func (r *reading) withoutLeadingDates(all, amounts []dividendValue) []dividendValue {
	first := map[int]int{} // the first amount of a part
	for _, a := range amounts {
		if at, ok := first[a.at.part]; !ok || a.at.from < at {
			first[a.at.part] = a.at.from
		}
	}
	leading := map[int]bool{}
	for i, at := range first {
		if r.parts[i].cells != nil || amountsIn(amounts, i) < 2 {
			continue
		}
		days := r.laterDates(&r.parts[i], 0)
		leading[i] = len(days) > 0 && days[0].From < at
	}
	var kept []dividendValue
	for _, v := range all {
		if v.field == "gross_per_share" || !leading[v.at.part] {
			kept = append(kept, v)
		}
	}
	return kept
}

// amountsIn returns how many amounts are in a part.
func amountsIn(amounts []dividendValue, part int) (n int) {
	for _, a := range amounts {
		if a.at.part == part {
			n++
		}
	}
	return n
}

// isNextTo reports whether a date follows an amount of its sentence before the next amount:
// "el primero, de 0,20 euros, el 7 de mayo; el segundo, de 0,15 euros, el 5 de noviembre". A
// date before all amounts leaves open to which the others belong.
func isNextTo(date, amount place, amounts []dividendValue) bool {
	if date.from < amount.to {
		return false
	}
	for _, other := range amounts {
		if other.at.part == date.part && other.at.from > amount.from && other.at.from < date.from {
			return false
		}
	}
	return true
}

// together reports whether two places are in the same row of a table or the same
// paragraph.
func (r *reading) together(a, b place) bool {
	if r.parts[a.part].cells != nil || r.parts[b.part].cells != nil {
		return a.part == b.part
	}
	return r.parts[a.part].paragraph == r.parts[b.part].paragraph
}

// setForm sets the form of a dividend. A choice between shares and cash is a scrip; where
// one is mentioned but not certain, neither form is.
func (r *reading) setForm(d *draft) {
	amount, hasAmount := d.proof["gross_per_share"]
	manyMatters := hasAmount && r.reportsResolutions() && !r.title.has("scrip", "dividend")
	for _, form := range []string{"scrip", "cash"} {
		mentioned := form == "scrip" && r.title.has("scrip")
		for i := range r.parts {
			p := &r.parts[i]
			if p.aside || !p.has(class(form)) {
				continue
			}
			isOfDividend := p.has("dividend") && p.has("payment")
			if manyMatters && p.paragraph != r.parts[amount.part].paragraph && !isOfDividend {
				continue // another resolution, such as a capital increase
			}
			at, sure := formIn(p, form)
			if sure {
				d.set("form", form, place{i, at.from, at.to})
				return
			}
			mentioned = mentioned || at.class != ""
		}
		if mentioned {
			return
		}
	}
}

// formIn returns the words in a part that name a form, and reports whether they are certain.
func formIn(p *part, form string) (mentioned cue, sure bool) {
	c := clausesOf(p)
	for _, q := range p.longest(class(form), "payment", "no cash form") {
		if q.class != class(form) || p.takesEffect(q) {
			continue
		}
		if !c.unsure(q.from) || form == "scrip" && c.onlyDoubtsBehind(q.to) {
			return q, true
		}
		mentioned = q
	}
	return mentioned, false
}

// onlyDoubtsBehind reports whether all doubts of a sentence are possibilities behind a
// token: "el programa de dividendo flexible, por el que los accionistas podrán recibir".
func (c *clauses) onlyDoubtsBehind(at int) bool {
	return !c.full && !slices.ContainsFunc(c.doubts, func(q cue) bool { return q.class != "possible" || q.from < at })
}

// takesEffect reports whether "efectivo" says that something is done, not that it is paid in
// cash: "hacer efectivo", "será efectivo", "fer efectiu".
func (p *part) takesEffect(q cue) bool {
	if w := p.word(q.from); q.to != q.from+1 || w != "efectivo" && w != "efectiu" || p.tokens[q.from].IsCapital() {
		return false // also "Forma de pago Efectivo"
	}
	if len(p.cells) > 0 && p.cells[p.cellOf(q.from)].from == q.from {
		return false
	}
	switch p.word(q.from - 1) {
	case "en", "de", "o", "y", "i", "u", "dinero", "diners":
		return false
	case "el", "l":
		return p.hasBetween(q.to, q.to+1, "payment") // "el efectivo pago"
	case "":
		return false // ": efectivo"
	}
	return true
}
