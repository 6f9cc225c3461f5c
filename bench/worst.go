package main

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/search/segment"
	"pregon/internal/sim/market"
	"pregon/internal/text"
)

// mostText is the longest search text that fits into the head of a request.
const mostText = 63 << 10

// worst measures the CPU time of the most expensive searches that fit into the
// head of a request, over a million reports and over the issuers.
func (b *bench) worst() error {
	x, words := worstIndex(large)
	worst, worstIssuers := time.Duration(0), time.Duration(0)
	texts := hostile(words)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		f := disclosure.Filter{Search: texts[name]}
		took, total := time.Duration(1<<62), 0
		var failed error
		for range 5 {
			start := cpuTime()
			total, _, failed = x.Search(b.ctx, f, 0, 10)
			took = min(took, cpuTime()-start)
		}
		start := cpuTime()
		if _, err := x.Directory().Search(b.ctx, texts[name], "", 10); err != nil {
			fmt.Fprintln(os.Stderr, "#", err)
		}
		issuers := cpuTime() - start
		fmt.Fprintf(os.Stderr, "# %-32s %6d bytes %8.1f ms, issuers %6.1f ms, %d hits %v\n", name, len(texts[name]), took.Seconds()*1e3, issuers.Seconds()*1e3, total, failed)
		worst, worstIssuers = max(worst, took), max(worstIssuers, issuers)
	}
	figure("search.worst", worst.Seconds()*1e3, "ms")
	figure("search.worst.issuers", worstIssuers.Seconds()*1e3, "ms")
	return b.ctx.Err()
}

// vocabulary holds the words and phrases of the reports, the most frequent first.
type vocabulary struct {
	words, pairs, triples []string
	titles                []string
}

// worstIndex builds an index in memory, as a start does, and returns its vocabulary.
func worstIndex(n int) (*search.Index, vocabulary) {
	w := search.NewWriter(&search.Numbers{}, nil)
	market := market.New(seed)
	var entities []*search.Issuer
	for _, i := range market.Issuers() {
		entities = append(entities, search.NewIssuer(&i))
	}
	counts := [3]map[string]int{{}, {}, {}}
	titles := map[string]int{}
	docs := make([]segment.Doc, 0, n)
	for r := range market.Bulk(n, until) {
		docs = append(docs, w.Doc(&r, nil))
		if len(docs)%10 > 0 { // a tenth is enough to find the common words
			continue
		}
		titles[text.Fold(r.Title)]++
		for _, field := range append(disclosure.SplitCategories(r.Category), r.CompanyName, r.Title, r.Summary) {
			said := text.Words(field)
			for i := range said {
				for n := range min(3, len(said)-i) {
					counts[n][strings.Join(said[i:i+n+1], " ")]++
				}
			}
		}
	}
	start := time.Now()
	w.Apply(docs, search.NewDirectory(entities))
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	fmt.Fprintf(os.Stderr, "# %d reports indexed in %.1f s, %d MB\n", n, time.Since(start).Seconds(), m.HeapInuse>>20)
	return w.Index(), vocabulary{frequent(counts[0]), frequent(counts[1]), frequent(counts[2]), frequent(titles)}
}

func frequent(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return counts[b] - counts[a] })
}

// hostile returns expensive searches that were found by trial.
func hostile(v vocabulary) map[string]string {
	fit := func(all []string, before, after string) string {
		var b strings.Builder
		for _, s := range all {
			if b.Len()+len(before)+len(s)+len(after) > mostText {
				break
			}
			b.WriteString(before + s + after)
		}
		return b.String()
	}
	reversed := make([]string, 0, len(v.pairs))
	for _, p := range v.pairs {
		a, b, _ := strings.Cut(p, " ")
		reversed = append(reversed, b+" "+a)
	}
	var joined []string // two overlapping pairs that mostly do not occur together
	for _, p := range v.pairs[:min(len(v.pairs), 300)] {
		for _, q := range v.pairs[:min(len(v.pairs), 300)] {
			if _, last, _ := strings.Cut(p, " "); strings.HasPrefix(q, last+" ") {
				joined = append(joined, p+q[len(last):])
			}
		}
	}
	var beginnings []string
	for _, w := range v.words {
		if len(w) > 4 {
			beginnings = append(beginnings, w[:4])
		}
	}
	mixed := func(before string) (out []string) {
		for i := range min(len(v.triples), len(v.pairs)) {
			out = append(out, before+`"`+v.triples[i]+`"`, before+`"`+v.pairs[i]+`"`)
		}
		return out
	}
	rarest := slices.Clone(v.words)
	slices.Reverse(rarest)
	two := v.words[0] + " " + v.words[1] + " "
	texts := map[string]string{
		"repeated in a phrase":      `"` + strings.Repeat(v.words[0]+" ", mostText/2/len(v.words[0]+" ")) + strings.Repeat(v.words[1]+" ", mostText/2/len(v.words[1]+" ")-2) + `"`,
		"alternating in a phrase":   `"` + strings.Repeat(two, mostText/len(two)) + `"`,
		"repeated":                  strings.Repeat(v.words[0]+" ", mostText/len(v.words[0]+" ")),
		"one phrase of all":         `"` + fit(v.words, "", " ") + `"`,
		"all words":                 fit(v.words, "", " "),
		"all words, the rarest":     fit(rarest, "", " "),
		"all words quoted":          fit(v.words, `"`, `" `),
		"common words":              strings.Join(v.words[:min(64, len(v.words))], " "),
		"no words":                  fit(v.words, "-", " "),
		"no rare words":             fit(v.words[min(len(v.words)/20, 200):], "-", " "),
		"all pairs":                 fit(v.pairs, `"`, `" `),
		"no pairs":                  fit(v.pairs, `-"`, `" `),
		"no rare pairs":             fit(v.pairs[min(len(v.pairs)/4, 400):], `-"`, `" `),
		"no reversed pairs":         fit(reversed, `-"`, `" `),
		"all triples":               fit(v.triples, `"`, `" `),
		"no triples":                fit(v.triples, `-"`, `" `),
		"no rare triples":           fit(v.triples[min(len(v.triples)/4, 400):], `-"`, `" `),
		"no overlapping pairs":      fit(joined, `-"`, `" `),
		"no triples and pairs":      fit(mixed("-"), "", " "),
		"no titles":                 fit(v.titles, `-"`, `" `),
		"prefixes":                  fit(beginnings, "", " "),
		"no identifiers":            fit(numbers(), "-", " "),
		"identifiers":               fit(numbers(), "", " "),
		"symbols and letters":       strings.Repeat("a.", mostText/2),
		"one letter words":          strings.Repeat("a ", mostText/2),
		"quotes":                    strings.Repeat(`"a" `, mostText/4),
		"near misses of long words": fit(v.words, "", "x "),
		"misspelt and existing":     fit(v.words, "", " ") + "zzzzzzz",
		"accents":                   strings.Repeat("ñ", mostText/2) + " a",
	}
	for n, t := range v.triples[:min(len(v.triples), 5)] {
		texts[fmt.Sprintf("triple %d", n)] = `"` + t + `"`
		texts[fmt.Sprintf("no triple %d", n)] = `-"` + t + `"`
		texts[fmt.Sprintf("pair %d", n)] = `"` + v.pairs[n] + `"`
	}
	title := strings.Fields(v.titles[0])
	var within []string
	for i := range title {
		for k := i + 2; k <= len(title); k++ {
			within = append(within, strings.Join(title[i:k], " "))
		}
	}
	texts["all parts of a title"] = fit(within, `"`, `" `)
	texts["no parts of a title"] = fit(within, `-"`, `" `)
	texts["long word beginnings"] = "info"
	texts["a long title"] = `"` + strings.Join(title[:min(len(title), 6)], " ") + `"`
	texts["no long title"] = "-" + texts["a long title"]
	return texts
}

func numbers() (out []string) {
	for i := range 20_000 {
		out = append(out, fmt.Sprintf("A%07d%d", i, i%10))
	}
	return out
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
