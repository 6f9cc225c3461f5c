package summary

import "strings"

// verbs are the verbs of a text in the past and in the future, by their meaning.
// Only unambiguous forms are included.
type verbs struct{ done, toDo map[string]bool }

var auxiliaries = newLexicon("ha han habia habian fue fueron sido")

func verbsOf(tokens []token) verbs {
	v := verbs{map[string]bool{}, map[string]bool{}}
	after := false // an auxiliary
	for _, t := range tokens {
		form := strings.ToLower(t.text)
		switch {
		case t.folded == "" || len(form) < 5 && !auxiliaries.has(t.folded):
			after = false
		case auxiliaries.has(t.folded):
			after = true
			continue
		case hasEnding(form, []string{"ó", "aron", "ieron"}), after && hasEnding(form, []string{"ado", "ada", "ados", "adas", "ido", "ida", "idos", "idas"}):
			v.done[meaning(t.folded)] = true
			after = false
		case hasEnding(form, []string{"rá", "rán", "ar", "er", "ir", "arse", "erse", "irse"}):
			v.toDo[meaning(t.folded)] = true
			after = false
		default:
			after = false
		}
	}
	return v
}

// sameTense reports whether no future event of the document is presented as past,
// or the reverse.
func sameTense(sentence, document []token) bool {
	ours, theirs := wouldBe(sentence), wouldBe(document)
	for _, t := range sentence {
		if m := meaning(t.folded); t.folded != "" && ours[m] != theirs[m] {
			return false
		}
	}
	said, there := verbsOf(sentence), verbsOf(document)
	for m := range said.done {
		if there.toDo[m] && !there.done[m] {
			return false
		}
	}
	for m := range said.toDo {
		if there.done[m] && !there.toDo[m] {
			return false
		}
	}
	return true
}

// wouldBe returns the conditional verbs of a text, such as "vendería". Nouns with the
// same ending do no harm, because they are in both texts.
func wouldBe(tokens []token) map[string]bool {
	set := map[string]bool{}
	for _, t := range tokens {
		if hasEnding(strings.ToLower(t.text), []string{"ría", "rían"}) {
			set[meaning(t.folded)] = true
		}
	}
	return set
}
