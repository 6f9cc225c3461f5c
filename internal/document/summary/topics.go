package summary

import (
	"slices"
	"strings"
)

// topic is a subject of reports. It has the words that identify it in the category
// and the title, and the words that report the event.
type topic struct {
	about phrases
	cues  phrases
}

var topics = func() []topic {
	var all []topic
	for part := range strings.SplitSeq(strings.TrimSpace(list("topics")), "\n\n") {
		var about, cues strings.Builder
		for line := range strings.Lines(part) {
			if words, ok := strings.CutPrefix(line, "about: "); ok {
				about.WriteString(words)
			} else {
				cues.WriteString(line)
			}
		}
		all = append(all, topic{newPhrases(about.String()), newPhrases(cues.String())})
	}
	return all
}()

// deeds are the verbs of news of every topic.
var deeds = phrasesOf("deeds")

// doings are verbs that are as common in text without news.
var doings = phrasesOf("doings")

// cuesFor returns the cues for the topics of a report. The title identifies the
// topics, or else the category, which is broader. If neither does, cuesFor returns
// the cues of all topics.
func cuesFor(s Source) (cues phrases, sure bool) {
	for _, about := range []string{s.Title, s.Category} {
		about = fold(about)
		for _, t := range topics {
			if t.about.in(about) {
				cues = append(cues, t.cues...)
			}
		}
		if cues != nil {
			slices.Sort(cues)
			return slices.Compact(cues), true
		}
	}
	for _, t := range topics {
		cues = append(cues, t.cues...)
	}
	slices.Sort(cues)
	return slices.Compact(cues), false
}
