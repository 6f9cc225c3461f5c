package account

import (
	"cmp"
	"time"

	"pregon/internal/auth/access"
	accounts "pregon/internal/auth/account"
	"pregon/internal/query"
)

// Limits are what a plan allows.
type Limits struct {
	RequestsPerMinute *int `json:"requests_per_minute"`
}

func (s *Service) limitsOf(plan string) (out Limits) {
	if limit := s.o.Guard.PlanLimit(plan); limit != nil {
		out.RequestsPerMinute = &limit.Policy.Limit
	}
	return out
}

// Profile is the caller's account, with the rights of the credential.
type Profile struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Email      string     `json:"email"`
	Provider   string     `json:"provider"`
	Plan       string     `json:"plan"`
	Scopes     []string   `json:"scopes"`
	Operator   bool       `json:"operator"`
	Limits     Limits     `json:"limits"`
	CreatedAt  *time.Time `json:"created_at"`
	SignedInAt *time.Time `json:"signed_in_at"`
	Credential Credential `json:"credential"`
}

// Credential is what the caller sent.
type Credential struct {
	Mode string `json:"mode"`
	ID   string `json:"id"`
}

// Profile returns the caller's account.
func (s *Service) Profile(by access.Principal) Profile {
	one := s.known(by.ID)
	return Profile{
		ID:         by.ID,
		Name:       one.Name,
		Email:      one.Email,
		Provider:   one.Provider,
		Plan:       by.Plan,
		Scopes:     by.Scope.Names(),
		Operator:   by.Operator,
		Limits:     s.limitsOf(by.Plan),
		CreatedAt:  query.TimeOrNull(one.CreatedAt),
		SignedInAt: query.TimeOrNull(one.SignedInAt),
		Credential: Credential{by.Mode.String(), by.Credential},
	}
}

// known returns what is known of an account. That of a key exists only after the first
// sign-in; the key has the rest.
func (s *Service) known(id string) accounts.Account {
	one, _ := s.o.Accounts.Account(id)
	if key, known := s.o.Keys.Key(id); known {
		one.Name = cmp.Or(one.Name, key.Name)
		one.CreatedAt = key.CreatedAt
	}
	return one
}
