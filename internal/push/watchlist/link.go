package watchlist

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
)

// The beginnings of the secrets of links.
const (
	SharePrefix = "wls_"
	FeedPrefix  = "wlf_"
)

// secretLength is the number of random letters and digits of a secret: 238 bits.
const secretLength = 40

// Link is a secret that lets its holder read a list without a credential.
type Link struct {
	Secret    string // empty if the secret in the store cannot be opened
	Key       string // that created the link; empty for the account itself
	CreatedAt time.Time

	sealed string
	digest string // of the secret
}

// linkRecord is a link as it is stored.
type linkRecord struct {
	Sealed    string    `json:"sealed"`
	Digest    string    `json:"digest"` // SHA-256 of the secret, in hexadecimal
	Key       string    `json:"key,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

func (l *Link) record() *linkRecord {
	if l == nil {
		return nil
	}
	return &linkRecord{
		Sealed:    l.sealed,
		Digest:    l.digest,
		Key:       l.Key,
		CreatedAt: l.CreatedAt,
	}
}

func (r *linkRecord) link() *Link {
	if r == nil {
		return nil
	}
	return &Link{
		Key:       r.Key,
		CreatedAt: r.CreatedAt,
		sealed:    r.Sealed,
		digest:    r.Digest,
	}
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// sealName is the name of a secret's place: a link cannot be moved to another list, nor a
// feed's be taken for a shared one.
func sealName(id, prefix string) string { return kind + "/" + id + "/" + prefix }

// newLink returns a link with a new secret.
func (r *Registry) newLink(by access.Reach, id, prefix string, now time.Time) *Link {
	text := prefix + secret.RandomText(secretLength)
	return &Link{
		Secret:    text,
		Key:       by.Maker(),
		CreatedAt: now,
		sealed:    r.o.Sealer.Seal(sealName(id, prefix), text),
		digest:    digestOf(text),
	}
}

// Share creates the link that lets others read a list. A list that is shared keeps its
// link, unless its creator no longer has access.
func (r *Registry) Share(ctx context.Context, by access.Reach, id string) (List, error) {
	return r.change(ctx, by, id, "watchlist.shared", func(l *List, now time.Time) (bool, error) {
		if l.Share != nil && l.Share.Secret != "" && r.o.Serves(l.Account, l.Share.Key) {
			return false, nil
		}
		l.Share = r.newLink(by, id, SharePrefix, now)
		return true, nil
	})
}

// EndShare ends the link that lets others read a list. It does nothing if there is none.
func (r *Registry) EndShare(ctx context.Context, by access.Reach, id string) (List, error) {
	return r.change(ctx, by, id, "watchlist.share_ended", func(l *List, _ time.Time) (bool, error) {
		shared := l.Share != nil
		l.Share = nil
		return shared, nil
	})
}

// RenewFeed makes the private address of the feeds and calendars of a list. An earlier one
// ends.
func (r *Registry) RenewFeed(ctx context.Context, by access.Reach, id string) (List, error) {
	return r.change(ctx, by, id, "watchlist.feed_renewed", func(l *List, now time.Time) (bool, error) {
		l.Feed = r.newLink(by, id, FeedPrefix, now)
		return true, nil
	})
}

// EndFeed ends the private address of the feeds and calendars of a list. It does nothing if
// there is none.
func (r *Registry) EndFeed(ctx context.Context, by access.Reach, id string) (List, error) {
	return r.change(ctx, by, id, "watchlist.feed_ended", func(l *List, _ time.Time) (bool, error) {
		had := l.Feed != nil
		l.Feed = nil
		return had, nil
	})
}
