package fact

import "slices"

// mostRatedSeries is the number of series of a fund whose ratings are read.
const mostRatedSeries = 30

// findSeries finds what an agency did with the ratings of several series, each in a line of its own:
//
//	La agencia … ha llevado a cabo las siguientes actuaciones:
//	- Serie A: elevada a AAA, desde AA.
//	- Serie B: confirmada en CCC.
//
// It returns a fact for each of them, and the agency.
func (f *ratingFinder) findSeries() (found []draft, agency string) {
	for i := range f.parts {
		name, ok := f.opensSeries(i)
		if !ok {
			continue
		}
		var listed []draft
		for k := i + 1; k < len(f.parts) && len(listed) < mostRatedSeries; k++ {
			d, ok := f.seriesLine(k)
			if !ok {
				break
			}
			d.set("agency", name.name, place{i, name.from, name.to})
			listed = append(listed, d)
		}
		if len(listed) < 2 {
			continue
		}
		if len(found) > 0 {
			return nil, "" // which of two lists is the new one, is not certain
		}
		found = withoutSame(listed)
		agency = name.name
	}
	return found, agency
}

// opensSeries reports whether a sentence says that an agency acted as the lines behind it say, and
// returns the agency.
func (f *ratingFinder) opensSeries(i int) (named, bool) {
	p := &f.parts[i]
	if p.aside || p.cells != nil || len(p.tokens) == 0 || len(p.tokens) > longestRating ||
		p.mark(len(p.tokens)-1) != ":" {
		return named{}, false
	}
	all := p.agencies(f.Company)
	if len(all) != 1 || p.has("rating doubt", "rating at present", "rating asked") || f.isOlder(p) || f.isTold(p) {
		return named{}, false
	}
	return all[0], p.has("rating acted") || p.hasActionBetween(0, len(p.tokens))
}

// seriesLine reads the action and the new rating of a line about a series.
func (f *ratingFinder) seriesLine(i int) (draft, bool) {
	const opening, longest = 6, 60 // tokens
	p := &f.parts[i]
	d := newDraft()
	if p.aside || len(p.tokens) > longest || !p.hasBetween(0, opening, "rating of series") ||
		p.has("rating short term") {
		return d, false
	}
	var done []cue
	for _, c := range p.all(ratingVerbs...) {
		if f.isDoubtful(p, c.from) || p.isAimOfReview(c.from) {
			return d, false
		}
		if len(done) > 0 && done[0].class != c.class {
			return d, false
		}
		done = append(done, c)
	}
	codes := slices.DeleteFunc(p.ratingsOfSeries(), func(c ratingCode) bool { return c.old })
	if len(done) == 0 || len(codes) != 1 {
		return d, false
	}
	d.set("action", actionName(done[0].class), place{i, done[0].from, done[0].to})
	d.set("rating", codes[0].text, place{i, codes[0].from, codes[0].to})
	if name, at, ok := p.outlook(0, len(p.tokens)); ok {
		at.part = i
		d.set("outlook", name, at)
	}
	return d, true
}

// ratingVerbs are the classes of the verbs for actions.
var ratingVerbs = func() (classes []class) {
	for _, a := range ratingActions {
		classes = append(classes, a.verb)
	}
	return classes
}()

// ratingsOfSeries returns the ratings of a line, without the letters that are names of series.
func (p *part) ratingsOfSeries() []ratingCode {
	return slices.DeleteFunc(p.ratingsIn(0, len(p.tokens)), func(c ratingCode) bool {
		return p.hasBetween(c.from-1, c.from, "rating of series")
	})
}

// withoutSame drops the facts that say the same as one before them: two series may have the same
// rating.
func withoutSame(all []draft) (kept []draft) {
	for _, d := range all {
		isSame := func(k draft) bool {
			return k.fields["action"] == d.fields["action"] && k.fields["rating"] == d.fields["rating"] &&
				k.fields["outlook"] == d.fields["outlook"]
		}
		if !slices.ContainsFunc(kept, isSame) {
			kept = append(kept, d)
		}
	}
	return kept
}
