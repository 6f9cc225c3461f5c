package disclosure

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// PositionKind is the register that a position is from.
type PositionKind string

const (
	Short     PositionKind = "short"      // net short positions
	Holding   PositionKind = "holding"    // significant holdings
	OwnShares PositionKind = "own_shares" // shares that an issuer holds of itself
	Dealing   PositionKind = "dealing"    // notices of managers' dealings
)

// PositionKinds lists the kinds in the order in which they are shown.
var PositionKinds = []PositionKind{Short, Holding, OwnShares, Dealing}

// ParsePositionKind accepts a kind exactly as it is spelt.
func ParsePositionKind(s string) (PositionKind, bool) {
	k := PositionKind(s)
	return k, slices.Contains(PositionKinds, k)
}

// prefix begins the ids of a kind.
func (k PositionKind) prefix() string { return strings.ReplaceAll(string(k), "_", "-") + "-" }

// PositionState is what the register says of a position now.
type PositionState string

const (
	StateCurrent   PositionState = "current"   // in the present table of the register
	StatePast      PositionState = "past"      // a later notice has replaced it
	StateEnded     PositionState = "ended"     // no longer in the present table, and not replaced
	StateClosed    PositionState = "closed"    // a short position of 0
	StateRectified PositionState = "rectified" // a dealing that a later notice rectifies
	StateAnnulled  PositionState = "annulled"  // annulled by a later notice
)

// positionStates are all states of a known position.
var positionStates = []PositionState{
	StateCurrent, StatePast, StateEnded, StateClosed, StateRectified, StateAnnulled,
}

// Position is one entry of a register about who owns, sells or bets against an issuer.
// An empty text means unknown. Its JSON form is what the store keeps, `export` writes
// and `import` reads. Decimals have a point; dates are YYYY-MM-DD.
//
// A field that only some kinds have is empty in the others.
type Position struct {
	// ID is made of the kind and the register's number, or of ISIN and day for short
	// positions, with an ordinal where several positions share these. It never contains
	// or depends on a name. See PositionID and ShortID.
	ID   string       `json:"id"`
	Kind PositionKind `json:"kind"`

	Issuer     string `json:"issuer_id,omitempty"` // in the directory, empty if it is not there
	IssuerName string `json:"issuer_name,omitempty"`
	NIF        string `json:"nif,omitempty"` // of the issuer, as the register prints it
	LEI        string `json:"lei,omitempty"` // of the issuer
	ISIN       string `json:"isin,omitempty"`

	// Name is who holds the position, or who dealt, as written. If Natural is set, the
	// name may be that of a natural person. Then the log keeps Sealed, a commitment to
	// the name, and the name beside the log, so that it can be erased. Erased is set
	// after that.
	Name    string `json:"holder,omitempty"`
	Natural bool   `json:"natural,omitempty"`
	Sealed  string `json:"holder_sealed,omitempty"`
	Erased  bool   `json:"holder_erased,omitempty"`

	State        PositionState `json:"state,omitempty"`
	Number       string        `json:"number,omitempty"`        // of the register; short positions do not have one
	Date         string        `json:"date,omitempty"`          // of a short position
	RegisteredOn string        `json:"registered_on,omitempty"` // of all others

	Percent            string `json:"percent,omitempty"` // in total
	PercentShares      string `json:"percent_shares,omitempty"`
	PercentDirect      string `json:"percent_direct,omitempty"`
	PercentIndirect    string `json:"percent_indirect,omitempty"`
	PercentInstruments string `json:"percent_instruments,omitempty"`

	Relation    Relationship `json:"relation,omitempty"` // of a dealing
	Rectifies   []string     `json:"rectifies,omitempty"`
	RectifiedBy []string     `json:"rectified_by,omitempty"`
	AnnulledBy  string       `json:"annulled_by,omitempty"`

	SourceURL   string `json:"source_url,omitempty"` // the stable page of the register
	DocumentURL string `json:"document_url,omitempty"`

	// What the document of a dealing states. Trades is nil while it was not read.
	DocumentStatus DocumentStatus `json:"document_status,omitempty"` // ready or failed; empty: not read yet
	DocumentReason string         `json:"document_reason,omitempty"` // why it failed
	DocumentSHA256 string         `json:"document_sha256,omitempty"`
	Trades         []Trade        `json:"trades,omitempty"`
	// Aggregates states whether the sums of the trades agree with those in the document:
	// agree, differ, or empty if it states none.
	Aggregates Agreement `json:"aggregates,omitempty"`

	FirstSeenAt time.Time `json:"first_seen_at,omitzero"`
	AvailableAt time.Time `json:"available_at,omitzero"`
	Backfilled  bool      `json:"backfilled,omitempty"` // loaded as history
}

// Relationship is why the author of a notice of dealings must notify.
type Relationship string

const (
	RelationManager    Relationship = "manager"
	RelationAssociated Relationship = "associated" // closely associated with a manager
)

// Agreement is the result of a comparison of sums.
type Agreement string

const (
	SumsAgree  Agreement = "agree"
	SumsDiffer Agreement = "differ"
)

// Side is the direction of a trade.
type Side string

const (
	Buy       Side = "buy"
	Sell      Side = "sell"
	OtherSide Side = "other" // awards, vesting and all that the register does not call a purchase or sale
)

// Sides lists all sides.
var Sides = []Side{Buy, Sell, OtherSide}

// Trade is one row of the grid of a notice of dealings, with its place in the document.
type Trade struct {
	ISIN       string `json:"isin,omitempty"`
	Instrument string `json:"instrument,omitempty"`
	Nature     string `json:"nature"` // as written
	Side       Side   `json:"side"`
	Date       string `json:"date"`
	Venue      string `json:"venue,omitempty"` // a MIC
	Volume     string `json:"volume"`
	Price      string `json:"price"`
	Currency   string `json:"currency"`
	Page       int    `json:"page"` // from 1
	Quote      string `json:"quote"`
}

// MaxTrades is the number of trades that a notice may have.
const MaxTrades = 2000

// PositionID returns the id of a position with a number of the register. n counts the
// positions of one number from 1.
func PositionID(k PositionKind, number string, n int) string {
	id := k.prefix() + strings.ToLower(number)
	if n > 1 {
		id += "-" + strconv.Itoa(n)
	}
	return id
}

// ShortID returns the id of a short position. n counts those of one ISIN and day from 1.
func ShortID(isin, date string, n int) string {
	return Short.prefix() + strings.ToLower(isin) + "-" + date + "-" + strconv.Itoa(n)
}

// KindOfPosition returns the kind of the position with an id.
func KindOfPosition(id string) (PositionKind, bool) {
	for _, k := range PositionKinds {
		if len(id) > len(k.prefix()) && strings.HasPrefix(id, k.prefix()) {
			return k, true
		}
	}
	return "", false
}

// IsCurrent reports whether the position is in the present table of its register.
func (p *Position) IsCurrent() bool { return p.State == StateCurrent }

// NameErased reports whether the name was erased, also that of an earlier change, whose
// seal is left.
func (p *Position) NameErased() bool { return p.Erased || p.Sealed != "" && p.Name == "" }

// Seal returns the commitment to a name with a salt, which the log has in place of the name
// of a natural person: the SHA-256 of the salt and the name, in hexadecimal.
func Seal(salt []byte, name string) string {
	sum := sha256.Sum256(append(salt[:len(salt):len(salt)], name...))
	return hex.EncodeToString(sum[:])
}

// Day returns the day by which positions are ordered: that of a short position, or the
// day of registration.
func (p *Position) Day() string {
	if p.Kind == Short {
		return p.Date
	}
	return p.RegisteredOn
}

// WantsDocument reports whether the document of a dealing is still to be read.
func (p *Position) WantsDocument() bool {
	return p.Kind == Dealing && p.DocumentStatus == "" && p.DocumentURL != ""
}

// Amount returns the sum of volume and price of all trades, if they have one currency,
// and that currency. It returns "" if the document was not read or has several.
func (p *Position) Amount() (amount, currency string) {
	return sumOf(p.Trades)
}

// AmountOf returns the amount of the trades of a side: see Amount.
func (p *Position) AmountOf(s Side) (amount, currency string) {
	var some []Trade
	for i := range p.Trades {
		if p.Trades[i].Side == s {
			some = append(some, p.Trades[i])
		}
	}
	return sumOf(some)
}

func sumOf(trades []Trade) (amount, currency string) {
	if len(trades) == 0 {
		return "", ""
	}
	sum := new(big.Rat)
	currency = trades[0].Currency
	for i := range trades {
		t := &trades[i]
		volume, ok := new(big.Rat).SetString(t.Volume)
		price, priced := new(big.Rat).SetString(t.Price)
		if !ok || !priced || t.Currency != currency {
			return "", ""
		}
		sum.Add(sum, volume.Mul(volume, price))
	}
	return formatRat(sum), currency
}

// maxFraction is more digits than a product of two decimals of a register has.
const maxFraction = 24

// formatRat returns a decimal without needless zeros.
func formatRat(r *big.Rat) string {
	s := r.FloatString(maxFraction)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// AddDecimals returns the sum of decimals that IsDecimal accepts, without needless zeros.
func AddDecimals(decimals ...string) string {
	if sum, ok := addSmall(decimals); ok {
		return sum
	}
	sum := new(big.Rat)
	for _, d := range decimals {
		if r, ok := new(big.Rat).SetString(d); ok {
			sum.Add(sum, r)
		}
	}
	return formatRat(sum)
}

// Sums of up to mostSmall decimals of smallDigits digits before the point, and smallPlaces
// after it, fit into an integer. Those of percentages are computed thousands of times for a
// page.
const (
	smallDigits = 9
	smallPlaces = 6
	smallUnit   = 1_000_000
	mostSmall   = 1000
)

// addSmall adds decimals as integers. ok is false if they are not small.
func addSmall(decimals []string) (sum string, ok bool) {
	if len(decimals) > mostSmall {
		return "", false
	}
	total := int64(0)
	for _, d := range decimals {
		whole, fraction, _ := strings.Cut(d, ".")
		if whole == "" || len(whole) > smallDigits || len(fraction) > smallPlaces {
			return "", false
		}
		value := int64(0)
		for _, digits := range [2]string{whole, fraction} {
			for n := range len(digits) {
				if digits[n] < '0' || digits[n] > '9' {
					return "", false
				}
				value = 10*value + int64(digits[n]-'0')
			}
		}
		for range smallPlaces - len(fraction) {
			value *= 10
		}
		total += value
	}
	sum = strconv.FormatInt(total/smallUnit, 10)
	if rest := total % smallUnit; rest > 0 {
		digits := strconv.FormatInt(smallUnit+rest, 10)[1:]
		sum += "." + strings.TrimRight(digits, "0")
	}
	return sum, true
}
