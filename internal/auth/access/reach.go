package access

import "pregon/internal/fault"

// Reach is the part of an account that a caller may see and change: all of it, or what
// one key and the keys below it made. A key is below the key with which it was made.
//
// It is the only place that decides this. What a Reach does not have must be answered
// like what does not exist.
type Reach struct {
	account string
	key     string   // empty for the whole account
	keys    *Keyring // knows which key was made with which
}

// WholeAccount returns the reach of the person or of the first key of an account.
func WholeAccount(id string) Reach { return Reach{account: id} }

// Reach returns the reach of a caller. A session that was opened with a key has the
// reach of that key.
func (k *Keyring) Reach(by Principal) Reach {
	if by.Whole() {
		return WholeAccount(by.ID)
	}
	return Reach{account: by.ID, key: by.Key, keys: k}
}

// Account returns the id of the account.
func (r Reach) Account() string { return r.account }

// Maker returns the maker of what the caller makes: a key, or empty for the account
// itself.
func (r Reach) Maker() string { return r.key }

// Has reports whether the caller may see and change something that belongs to an
// account. The maker is the key with which it was made, or empty for the account
// itself; the maker of a key is the key.
func (r Reach) Has(account, maker string) bool {
	if account != r.account || account == "" {
		return false
	}
	if r.key == "" {
		return true
	}
	byID := r.keys.known.Load().byID
	for range maxDepth + 2 { // the first key, and those below it
		if maker == r.key {
			return true
		}
		h := byID[maker]
		if h == nil {
			return false
		}
		maker = h.Parent
	}
	return false
}

// Whole reports whether the principal acts for its whole account: it is the person, or
// it sent or signed in with the first key, whose id is that of the account.
func (p Principal) Whole() bool { return IsWholeKey(p.ID, p.Key) }

// IsWholeKey reports whether a key acts for the whole of an account: it is none, which
// means the person, or the first key of the account.
func IsWholeKey(account, key string) bool { return key == "" || key == account }

// CheckWhole returns an error unless the principal acts for its whole account. The
// subject is what the operation concerns, in the plural, with a capital letter.
func (p Principal) CheckWhole(subject string) error {
	if p.Whole() {
		return nil
	}
	use := "sign in without a key"
	if IsKeyID(p.ID) {
		use = "use its first key, " + p.ID + ", or sign in with that one"
	}
	return fault.New(fault.Forbidden, "%s belong to the whole account, but the key %s is for a part of it: %s.",
		subject, p.Key, use)
}
