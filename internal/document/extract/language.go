package extract

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// languages are the languages that Language returns. They are the first of clues.
var languages = []string{"es", "ca", "gl", "eu", "en", "pt", "fr"}

// clue has what identifies a language: frequent short words, endings of other words,
// and letters in them.
type clue struct{ language, words, endings, letters string }

// clues include languages that Language does not return, so that their texts are not
// taken for a similar language.
var clues = []clue{
	{
		"es",
		`de la el los las en y que del por con para una un se su al como no sus ha es o lo más entre sobre sin así cuando ser
			son fue este esta estos estas está hay también pero si ya le les dicho dicha cada otro otra otros otras donde desde
			hasta muy sido han mediante según uno puede todos todas fecha año años e todo nos durante ante bajo`,
		`ción ciones miento mientos dad dades mente idos idas ados adas ando iendo aron ieron ará erá ía encia encias o os as
			do ón ión ones io ero eros ivo ivos ible able or ores al ales ente ante`,
		`ñ ue ie j ll ch y`,
	},
	{
		"ca",
		`de la el els les en i que del dels per amb una un es seu al com no ha aquest aquesta són o més entre sobre sense així
			als pel és ser seva seus seves pels aquests aquestes està hi també però si ja li han fins molt dins cada altre
			altra altres sigui estat quan on des qual quals mitjançant segons any anys data tot tots van va ho us cal l d s n
			cap fer`,
		`ció cions ment ments tat tats ència ències ància atge ats ades ant arà erà aran or ig at ut nt ts rs er ers ió ions
			ible able al als iu es ès í`,
		`ç è ò à l·l ll ny ix tx j`,
	},
	{
		"gl",
		`de a o os as en e que do da dos das por con para unha un se seu ao como non no na nos nas máis entre sobre sen é súa
			polo pola á ás aos polos polas dun dunha neste nesta ou foi foron pode ser son este esta estes estas está tamén
			pero si xa lle ata moi cada outro outra outros outras onde desde cando todos todas ano anos súas seus unhas uns hai
			eles isto`,
		`ción cións mento mentos dade dades mente ndo idos idas ados adas aron ará erá ncia ncias nza xe xes eiro eira áns óns
			o os as do ón ión ou íbel ábel ns use ase ío io or ores al ais ivo ente ante`,
		`ñ xe xa xo xu iñ ei ll ch uíd`,
	},
	{
		"eu",
		`eta da ez du dira bat ere edo izan dute zen hau baina bere egin den dituzte dela bezala arte zuen baita urteko beste
			guztiak dago daude zaio dio ditu diren dituen duen honen hori horien hauek bidez gabe baino lehen gero behar ahal
			zituen zituzten izango guztien guzti hiru bi urte urteak artean ari zein non nola bada honako oso dagoen dezake`,
		`aren ren etan etako ean eko tzea tzeko tzen tuko duko ekin tik rako zioa zioak ziorik rik ak ek ko tu du`,
		`tz tx ts rr atz etz itz otz utz`,
	},
	{
		"en",
		`the of and to in a is that for on with as by at from are be this or an which has have its not will was been were it no
			can if all any may than other there their they these those such when one also after before you your into per only
			must should shall would about between under over more had out up who each being both does but`,
		`ing ings tion tions ment ments ed ly ness ity ies ship able ible ally ers ght e er or al ive ent ant ate ated ted est
			ure ence ance ful less`,
		`wh th ck sh w k oo ee ea ow y ss tt ll ou`,
	},
	{
		"pt",
		`de a o os as em e que do da dos das por com para uma um se seu ao como não no na nos nas mais entre sobre sem é são
			pelo pela à às aos pelos pelas dum duma num numa neste nesta ou foi foram pode ser este esta estes estas está
			também mas si já lhe até muito cada outro outra outros outras onde desde quando todos todas ano anos sua suas seus
			isto há você será`,
		`ção ções são mento mentos dade dades mente ndo idos idas ados adas ram ará erá ncia ncias nça gem eiro eira ável o os
			as do ão vel ível ou ho lha am em ns io or ores al ais ivo ente ante`,
		`ã õ ç nh lh ê â ss ei j ch ão õe`,
	},
	{
		"fr",
		`de la le les en et que du des par avec pour une un se sa au aux comme ne pas a est ou plus entre sur sans dans qui il
			ce cette sont l d n s qu son ses leur leurs été être ces mais si peut tous toutes après avant elle elles nous vous
			sous lors afin ainsi dont fait ont soit lorsque selon année années y on cet aussi très chez vers`,
		`tion tions ment ments eur eurs ées és ée aire aires ique iques ité ités eux euse ance ances ence ait ent ère ois ble
			re res er ier ant ants al aux if ifs ive ives or ir ions e es`,
		`ç ê è œ à û ô é eu ou oi qu j ss tt ll`,
	},
	{
		"it",
		`di il la le lo gli i in e che del della dei delle per con una un si su al come non è o nel nella sono più tra fra sul
			alla alle dal dalla da ha hanno essere stato stata questo questa anche ma se suo sua loro ogni dopo prima senza
			dell nell all ai agli degli viene può fine l d tutti tutte anno anni sarà ed ad`,
		`zione zioni mento menti tà mente ato ata ati ate ando endo ito iti ezza aggio ibile ale ali o io ivo ivi ore ori ente
			anti enti`,
		`ò ù ì gli cch zz tt ll ss`,
	},
	{
		"ro",
		`de la și în pe cu care că din nu este o un sau pentru prin al ale a ai cel cea se sunt fi fost va vor lor sa său sale
			mai după între acest această acestui dacă doar când fără poate trebuie unei unui ca dar are au ce`,
		`ului ilor ția ție ții țiile ează ată ate esc ești rea rii or e at it ul lor ie`,
		`ă ț ș î â ţ ş`,
	},
	{
		"de",
		`der die das und in zu den von mit für auf im ist nicht ein eine des dem als auch es an werden aus er hat dass sie nach
			wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch kann
			wurde sich keine`,
		`ung ungen heit keit lich schaft isch ischen ten gen en er e es te end bar`,
		`ß ü ö ä sch ch ei ie tz ck w k tt ll ss`,
	},
	{
		"nl",
		`de het een en van in is op te dat met voor niet zijn aan er om die als bij door ook of uit naar tot wordt worden heeft
			over deze dan nog maar kan geen was hebben werd zal wel na onder tussen meer hun u`,
		`ing ingen heid lijk lijke tie ties atie isch en eren elijk er e d t baar`,
		`ij aa oo ee uu oe ui ie w k ck sch ch tt ll`,
	},
	{
		"no",
		`og i det er på til som en å for av at med den har ikke et om var fra kan men de vil skal ved eller ble ut opp også
			etter når bli blir må over under du før mot denne dette ingen andre seg`,
		`ing ingen else elser het ene ere en et er lig e t d`,
		`å ø æ kj gj k y v tt ll kk`,
	},
	{
		"da",
		`og i det er på til som en at for af med den har ikke et om var fra kan men de vil skal ved eller blev ud op også efter
			når blive bliver over under du før mod denne dette ingen andre sig der kunne`,
		`ing ingen else elser hed ene ede en et er lig e t d`,
		`å ø æ øj ej k y v tt ll kk`,
	},
	{
		"sv",
		`och i att det som en på är av för med till den har inte ett om var från kan men de vid eller blev ut upp också efter
			när blir bli över under du före mot denna detta inga andra sig skall ska många finns inom`,
		`ing ningen else het heter arna erna orna en et ade lig e t d`,
		`å ä ö k y v tt ll kk`,
	},
	{
		"pl",
		`i w z na do się nie że to jest o po za od przez przy dla jak oraz który która które są był będzie lub jego ich tym
			tego może jako ze`,
		`ego ych ymi anie enie ów ści ość ami ać y a e`,
		`ł ą ę ż ś ć ź ń sz cz rz w k y j ie`,
	},
	{
		"cs",
		`a v se na je že o s do z pro k za od po jako který která které jsou byl bude nebo jeho jejich může ze při podle není
			tento jen aby by`,
		`ého ých ním ování ost osti ení ání a e y`,
		`ě ř ů ž š č ý k j v`,
	},
	{
		"hu",
		`a az és hogy nem is egy ez vagy meg van volt csak már még mint ha fel ki el be de azt lesz lehet között után szerint`,
		`ban ben nak nek ság ség ása ése hoz hez ból ből ott ett ok ek t a e`,
		`ő ű gy sz ny k z v`,
	},
	{
		"fi",
		`ja on ei se että oli joka hän mutta tai kun myös ovat voi ole kuin sen olla jos mukaan sekä vain tämä niin`,
		`ssa ssä sta stä lla llä lle ksi inen isen sen taan iin tiin a ä en in`,
		`ää yy kk ii k v ll tt uo`,
	},
}

// evidence says for which languages a word, ending or group of letters counts, and
// how much: the fewer they are, the more.
type evidence struct {
	languages []int // in clues
	weight    float64
}

var (
	wordEvidence   = evidenceOf(1, func(c *clue) string { return c.words })
	endingEvidence = evidenceOf(0.6, func(c *clue) string { return c.endings })
	letterEvidence = evidenceOf(0.5, func(c *clue) string { return c.letters })

	// firstLetters are the first bytes of the keys of letterEvidence.
	firstLetters = func() (first [256]bool) {
		for letters := range letterEvidence {
			first[letters[0]] = true
		}
		return first
	}()
)

func evidenceOf(factor float64, list func(*clue) string) map[string]evidence {
	out := map[string]evidence{}
	for i := range clues {
		for _, key := range strings.Fields(list(&clues[i])) {
			e := out[key]
			e.languages = append(e.languages, i)
			e.weight = factor * math.Log(float64(len(clues)+1)/float64(len(e.languages)))
			out[key] = e
		}
	}
	return out
}

// A language is certain if it leads the next by leastLead, and by a part of its own
// score in long texts, and if the text has enough clues of it for its length.
const (
	leastLead  = 1.5
	leadPart   = 0.06
	leastScore = 0.25    // per word
	nameWeight = 0.5     // of the words of names, which may be in another language
	enough     = 5_000   // words, after which no more are read
	mostBytes  = 100_000 // of a page
)

// Language returns the language of a text, or "" if it is not certain.
func Language(pages []Page) string {
	score := make([]float64, len(clues))
	words := 0
	for _, p := range pages {
		words += count(p.Text[:min(len(p.Text), mostBytes)], score)
		if words >= enough {
			break
		}
	}
	best, second := leaders(score)
	lead := score[best] - score[second]
	if best >= len(languages) || lead < leastLead || lead < leadPart*score[best] ||
		score[best] < leastScore*float64(words) {
		return ""
	}
	return clues[best].language
}

// leaders returns the indexes of the two highest scores.
func leaders(score []float64) (best, second int) {
	best, second = 0, 1
	if score[1] > score[0] {
		best, second = 1, 0
	}
	for n := 2; n < len(score); n++ {
		switch {
		case score[n] > score[best]:
			best, second = n, best
		case score[n] > score[second]:
			second = n
		}
	}
	return best, second
}

// count adds the clues of a text to the scores, and returns its number of words.
func count(text string, score []float64) int {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '·' })
	for i, w := range words {
		weight := 1.0
		if capital(w) || insideName(words, i) {
			weight = nameWeight
		}
		countWord(strings.ToLower(w), weight, score)
	}
	return len(words)
}

// capital reports whether a word has only one capital, its first letter.
func capital(w string) bool {
	first, n := utf8.DecodeRuneInString(w)
	second, _ := utf8.DecodeRuneInString(w[n:])
	return unicode.IsUpper(first) && unicode.IsLower(second)
}

// insideName reports whether a word is between two capitalized ones, as in Banco de
// la Ribera. There may be another short word between.
func insideName(words []string, i int) bool {
	near := func(step int) bool {
		for n := 1; n <= 2; n++ {
			j := i + n*step
			if j < 0 || j >= len(words) || n == 2 && len(words[j-step]) > 3 {
				return false
			}
			if capital(words[j]) {
				return true
			}
		}
		return false
	}
	return len(words[i]) <= 3 && near(-1) && near(1)
}

// countWord adds the clues of a word, in lower case.
func countWord(w string, weight float64, score []float64) {
	add := func(e evidence) {
		for _, n := range e.languages {
			score[n] += weight * e.weight
		}
	}
	if e, ok := wordEvidence[w]; ok {
		if len(w) == 1 {
			weight /= 2 // may be the label of an item
		}
		add(e)
		return
	}
	if utf8.RuneCountInString(w) < 4 {
		return
	}
	for i := 2; i < len(w); i++ {
		if e, ok := endingEvidence[w[i:]]; ok {
			add(e)
			break // the longest
		}
	}
	const mostLetters = 5 // bytes of a group
	for i := range len(w) {
		for end := i + 1; firstLetters[w[i]] && end <= min(i+mostLetters, len(w)); end++ {
			if e, ok := letterEvidence[w[i:end]]; ok {
				add(e)
			}
		}
	}
}
