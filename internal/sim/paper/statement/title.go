package statement

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"pregon/internal/sim/filler"
)

// announcement is what some titles of the market's reports announce. The file
// titles.txt has them, separated by empty lines. A line that begins with
//
//	=  is a title, whose blanks are fields of the fact or other blanks of texts
//	!  is the fact: its kind, and fields whose values are words
//	+  lists words of which a text about it must have one
//	-  lists words that it must not have
type announcement struct {
	titles  []titlePattern
	fact    declaration
	with    []string
	without []string
}

func parseAnnouncement(text string) *announcement {
	a := &announcement{}
	for line := range strings.SplitSeq(text, "\n") {
		rest := strings.TrimSpace(line[1:])
		switch line[0] {
		case '=':
			a.titles = append(a.titles, parseTitle(rest))
		case '!':
			a.fact = parseDeclaration(rest)
		case '+':
			a.with = strings.Split(rest, ", ")
		case '-':
			a.without = strings.Split(rest, ", ")
		default:
			panic("statement: titles.txt: " + line)
		}
	}
	return a
}

// titlePattern recognises a title and reads its blanks.
type titlePattern struct {
	expression *regexp.Regexp
	blanks     []string // with their forms
}

func parseTitle(text string) titlePattern {
	var p titlePattern
	var expression strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		expression.WriteString(regexp.QuoteMeta(before))
		if !found {
			break
		}
		blank, after, _ := strings.Cut(rest, "}")
		p.blanks = append(p.blanks, blank)
		expression.WriteString("(" + shape(blank) + ")")
		text = after
	}
	p.expression = regexp.MustCompile("^" + expression.String() + "$")
	return p
}

// shape returns the expression of what fills a blank of a title.
func shape(blank string) string {
	name, _, _ := strings.Cut(blank, ":")
	switch name {
	case "gross_per_share", "max_amount", "voting_rights", "shares", "proceeds", "new_shares", "price", "acceptance":
		return `[\d.]+(?:,\d+)?`
	case "payment_date", "first_call", "ends_on":
		return longDate
	case "week":
		return `entre el \d+(?: de \p{L}+)?(?: de \d{4})? y el ` + longDate
	case "clock":
		return `\d{1,2}:\d{2}`
	case "meeting":
		return `Junta General (?:Ordinaria|Extraordinaria) de Accionistas`
	case "post":
		return `D\.ª? .+ como .+`
	case "rating", "rating_was":
		return `[ABC]{1,3}[+-]?`
	}
	return `.+`
}

const longDate = `\d{1,2} de \p{L}+ de \d{4}`

// read reports whether a title is of the pattern, and takes over its values.
func (p *titlePattern) read(o *order) bool {
	parts := p.expression.FindStringSubmatch(o.title)
	if parts == nil {
		return false
	}
	for n, blank := range p.blanks {
		name, form, _ := strings.Cut(blank, ":")
		if !o.set(name, form, parts[n+1]) {
			clear(o.values)
			clear(o.stated)
			return false
		}
	}
	return true
}

// set takes over what fills a blank of the title. It reports false if it cannot be
// read.
func (o *order) set(blank, form, text string) bool {
	switch blank {
	case "*":
		return true
	case "week":
		return o.setWeek(text)
	case "meeting":
		kind := "ordinary"
		if strings.Contains(text, "Extraordinaria") {
			kind = "extraordinary"
		}
		o.values["meeting_kind"] = words{text, text, text, kind}
		return true
	case "clock":
		at, err := time.Parse("15:04", text)
		o.values["at"] = moment{o.day.Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute)}
		o.stated["at"] = "time"
		return err == nil
	case "post":
		return o.setPost(text)
	case "outlook":
		n := slices.IndexFunc(outlooks, func(w words) bool { return w.spanish == text })
		if n < 0 {
			return false
		}
		o.values[blank] = outlooks[n]
		o.stated[blank] = ""
		return true
	}
	if shape(blank) == longDate {
		day, ok := filler.ParseDate(text, time.UTC)
		o.values[blank] = moment{day}
		o.stated[blank] = "long"
		if blank == "first_call" {
			o.stated["second_call"] = "long" // on the next day, as the title says
		}
		return ok
	}
	if shape(blank) != `.+` && !strings.HasPrefix(blank, "rating") {
		x, ok := parseDecimal(text)
		if form == "m" {
			x = x.times(whole(1_000_000), 0)
		}
		o.values[blank] = x
		o.stated[blank] = form
		return ok
	}
	o.values[blank] = name(text)
	o.stated[blank] = ""
	return true
}

// setWeek takes over a week: «entre el 4 y el 8 de mayo de 2026».
func (o *order) setWeek(text string) bool {
	_, end, _ := strings.Cut(text, " y el ")
	friday, ok := filler.ParseDate(end, time.UTC)
	o.values["from"] = moment{friday.AddDate(0, 0, -4)}
	o.values["to"] = moment{friday}
	o.stated["from"] = "long"
	o.stated["to"] = "long"
	return ok
}

// setPost takes over a person and a role: «D.ª Inés Gil como consejera dominical».
func (o *order) setPost(text string) bool {
	who, post, _ := strings.Cut(text, " como ")
	address, bare, _ := strings.Cut(who, " ")
	woman := address == "D.ª"
	for _, r := range readTexts().names.Roles {
		if woman && r.Woman == post || !woman && r.Man == post {
			o.values["person"] = person{bare, woman}
			o.values["role"] = r.words(woman)
			o.stated["person"] = ""
			o.stated["role"] = ""
			return true
		}
	}
	return false
}
