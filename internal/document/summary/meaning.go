package summary

// Indexes in opposites that other files use.
const (
	upDown      = 0
	profitLoss  = 3
	mostSerious = 5
)

// opposites are pairs of words that a summary must not confuse. They include English
// words because some documents are in English and their summaries are not. A
// sentence may use a word of the first mostSerious pairs only if its evidence
// contains or implies it.
var opposites = [][2]lexicon{
	{
		newLexicon(`aument* increment* crec* elev* sube suben subio subieron subira subido subida subidas subir alza mas mayor mayores repunt* ampliacion ampliar* amplio avanz* supera superan supero superar*
			ascenso revaloriz* increas* rise* rising rose grew grow* higher up more upgrad*`),
		newLexicon(`reduc* reduj* disminu* baja bajan bajo bajaron bajara bajada bajar caen cae cayo cayeron caera caida caer descen* decrec* menos menor menores recort* rebaj*
			retroce* contrae contrajo contraccion desplom* decreas* fall* fell drop* declin* lower down less reduc* cut downgrad*`),
	},
	{
		newLexicon(`compra compran compro compraron comprara comprado comprar compras comprador* adquier* adquir* adquis* buy* bought purchas* acquir* acquis*`),
		newLexicon(`vende* vendi* vender* vendid* venta enajen* desinver* sell* sold sale dispos* divest*`),
	},
	{
		newLexicon(`nombra* nombro designa* designo incorpora* reeleg* reelec* reelig* ratifica* appoint* elected nominat*`),
		newLexicon(`cese ceses cesa* ceso dimit* dimision* renunci* destitu* salida resign* dismiss* departure steps stepped`),
	},
	{
		newLexicon(`beneficio* ganancia* gana gano ganan ganaron plusvalia* profit* gain*`),
		newLexicon(`perdida* pierde* perdio perdieron minusvalia* loss* lost`),
	},
	{
		newLexicon(`aprueb* aprob* autoriz* acept* admit* conced* approv* authori* accept*`),
		newLexicon(`rechaz* denieg* deneg* desestim* revoc* reject* refus*`),
	},
	{
		newLexicon(`inici* comienz* comenz* empiez* empez* lanz* abre abrir* apertura reanud* levant* start* launch* begin* began resum*`),
		newLexicon(`finaliz* termin* conclu* cancel* suspend* suspens* cierra cierre cerr* interrump* extin* end ended ends suspend* terminat* complet*`),
	},
	{newLexicon("emit* emision* issu*"), newLexicon("amortiz* recompr* redeem* redempt* repurchas* buyback*")},
	{newLexicon("mejor* improv*"), newLexicon("empeor* worse*")},
	{newLexicon("inclu* inclui*"), newLexicon("exclu* exclui*")},
	{newLexicon("absuel* absolv*"), newLexicon("conden*")},
	{newLexicon("bruto bruta brutos brutas gross"), newLexicon("neto neta netos netas net")},
	{newLexicon("positiv* favorable* positive*"), newLexicon("negativ* desfavorable* negative*")},
	{newLexicon("superior* maxim*"), newLexicon("inferior* minim*")},
	{newLexicon("largo long"), newLexicon("corto short")},
	{newLexicon("absorbente absorbe"), newLexicon("absorbid*")},
	{newLexicon("antes previo previa before"), newLexicon("despues posterior tras after")},
	{newLexicon("activo activos"), newLexicon("pasivo pasivos")},
	{newLexicon("ordinari*"), newLexicon("extraordinari*")},
	{newLexicon("voluntari*"), newLexicon("obligatori* forzos*")},
	{newLexicon("provisional* preliminar*"), newLexicon("definitiv* firme firmes")},
	{newLexicon("ejecutiv*"), newLexicon("dominical* independiente*")},
	{newLexicon("individual*"), newLexicon("consolidad*")},
	{newLexicon("emisor* oferente*"), newLexicon("suscriptor* destinatari*")},
}

// synonyms are interchangeable words. Other words are compared by their stem.
var synonyms = []lexicon{
	newLexicon("repart* distribu* abon* paga* pago* pagos retribu* pay* paid distribut*"),
	newLexicon("acord* acuerd* aprob* aprueb* decid* decision* agree* approv*"),
	newLexicon("sociedad* compania* entidad* empresa* grupo* company group"),
	newLexicon("ingreso* facturacion factur* ventas revenue* sales turnover"),
	newLexicon("beneficio* resultado* gana gano ganancia* profit* earnings result*"),
	newLexicon("comunic* inform* anunci* notific* announc* inform* report*"),
	newLexicon("ascend* ascien* alcanz* situ* obtuv* obten* registr* logr* reach*"),
	newLexicon("ejercicio* ano anos anual* year*"),
	newLexicon("consejo board directors"),
	newLexicon("accionista* shareholder*"),
	newLexicon("accion acciones titulo titulos share shares"),
	newLexicon("dividend*"),
	newLexicon("deuda endeudamiento debt"),
	newLexicon("neto neta netos netas net"),
	newLexicon("bruto bruta brutos brutas gross"),
	newLexicon("recompr* autocartera repurchas* buyback"),
	newLexicon("emit* emision* issu*"),
	newLexicon("bono bonos bond bonds"),
	newLexicon("venc* matur*"),
	newLexicon("calific* rating*"),
	newLexicon("filial* subsidiar*"),
	newLexicon("firma firman firmo firmar* firmad* formaliz* signed signs"),
	newLexicon("tribunal* court*"),
	newLexicon("precio* price*"),
	newLexicon("semestr* half"),
	newLexicon("trimestr* quarter*"),
	newLexicon("president* chair*"),
	newLexicon("depositari* custod*"),
	newLexicon("fusion* merg*"),
	newLexicon("cuenta* account*"),
	newLexicon("efecto* effect*"),
	newLexicon("sustitu* reemplaz* replac*"),
	newLexicon("medio media medios medias average"),
	newLexicon("requier* requer* sujet*"),
}

// distinct are words with the direction of others that are not their synonyms: a
// resignation is not a dismissal.
var distinct = []lexicon{
	newLexicon("nombra* nombro design* appoint*"),
	newLexicon("incorpor*"), newLexicon("reeleg* reelec* reelig*"), newLexicon("ratific*"),
	newLexicon("cese ceses cesa* ceso"), newLexicon("dimit* dimision* renunci* resign*"), newLexicon("destitu* dismiss*"), newLexicon("salida departure"),
	newLexicon("plusvalia*"), newLexicon("minusvalia*"), newLexicon("comprador*"), newLexicon("vendedor*"),
}

// meaning returns the key by which a folded word is compared.
func meaning(word string) string {
	for n, d := range distinct {
		if d.has(word) {
			return "!" + string(rune('a'+n))
		}
	}
	for n, pair := range opposites[:mostSerious-1] {
		for k, side := range pair {
			if side.has(word) {
				return string(rune('A'+n)) + string(rune('0'+k))
			}
		}
	}
	for n, s := range synonyms {
		if s.has(word) {
			return "=" + string(rune('a'+n))
		}
	}
	return stem(word)
}
