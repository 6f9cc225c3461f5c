package store

import (
	"crypto/rand"

	"pregon/internal/disclosure"
)

// saltSize is the number of bytes of a salt: names are few, so that without it a seal
// could be opened by trying them.
const saltSize = 32

// SealedName is the name of a natural person as it is kept beside the log. The log has
// only Sealed, a commitment to the name that cannot be opened once the salt is erased.
type SealedName struct {
	Sealed string // hex of the SHA-256 of salt and name
	Salt   []byte
	Name   string
}

// SealName seals a name with a new salt.
func SealName(name string) SealedName {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // it never fails
	return SealedName{
		Sealed: disclosure.Seal(salt, name),
		Salt:   salt,
		Name:   name,
	}
}

// Opens reports whether the seal is that of the name and the salt.
func (n SealedName) Opens() bool { return n.Sealed == disclosure.Seal(n.Salt, n.Name) }

// ErasedPositions returns the ids of the positions whose names the changes erase. It is
// the part of Append that is the same for every engine.
func ErasedPositions(changes []disclosure.Change) (ids []string) {
	for i := range changes {
		if p := changes[i].Position; p != nil && p.Erased {
			ids = append(ids, p.ID)
		}
	}
	return ids
}
