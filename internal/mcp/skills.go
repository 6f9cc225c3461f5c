package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"pregon/internal/query"
)

// Skill is an instruction for agents: a Markdown text with front matter. It is the
// same as over HTTP.
type Skill struct {
	Name  string
	Front map[string]any // the front matter
	Body  []byte
}

const (
	skillURI  = "skill://"
	skillType = "text/markdown"
)

func (k Skill) uri() string { return skillURI + k.Name + "/SKILL.md" }

// entry returns the skill as the extension describes it.
func (k Skill) entry() object {
	sum := sha256.Sum256(k.Body)
	file := object{"uri": k.uri(), "digest": "sha256:" + hex.EncodeToString(sum[:]), "size": len(k.Body)}
	return object{"uri": k.uri(), "frontmatter": k.Front, "resources": []object{file}}
}

func (k Skill) resource() resource {
	description, _ := k.Front["description"].(string)
	return resource{URI: k.uri(), Name: k.Name, Title: "How to use this service", Description: description, MIMEType: skillType, Size: len(k.Body)}
}

func (s *Server) skills() []Skill {
	if s.o.Skills == nil {
		return nil
	}
	return s.o.Skills()
}

// skill returns the skill with a URI.
func (s *Server) skill(uri string) (Skill, error) {
	for _, k := range s.skills() {
		if k.uri() == uri {
			return k, nil
		}
	}
	return Skill{}, errNoResource
}

func (s *Server) listSkills(_ context.Context, m message) (reply, error) {
	all := []object{}
	for _, k := range s.skills() {
		all = append(all, k.entry())
	}
	return onePage(m, object{"skills": all})
}

func (s *Server) getSkill(_ context.Context, m message) (reply, error) {
	k, err := s.skill(m.uri)
	if err != nil {
		return reply{}, err
	}
	b, err := query.Encode(object{"skill": k.entry()})
	return reply{object: b, ttl: offerTTL}, err
}
