package mcp

import "context"

// Skill is an instruction for agents: a Markdown text with front matter. It is the
// same as over HTTP.
type Skill struct {
	Name   string
	Front  map[string]any // the front matter
	Body   []byte
	Digest string // of Body, such as sha256:…
}

const (
	skillURI  = "skill://"
	skillType = "text/markdown"
)

func (k Skill) uri() string { return skillURI + k.Name + "/SKILL.md" }

// entry returns the skill as the extension describes it.
func (k Skill) entry() object {
	file := object{"uri": k.uri(), "digest": k.Digest, "size": len(k.Body)}
	return object{"uri": k.uri(), "frontmatter": k.Front, "resources": []object{file}}
}

func (k Skill) resource() resource {
	description, _ := k.Front["description"].(string)
	return resource{
		URI:         k.uri(),
		Name:        k.Name,
		Title:       "How to use this service",
		Description: description,
		MIMEType:    skillType,
		Size:        len(k.Body),
	}
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
	if err := m.checkCursor(); err != nil {
		return reply{}, err
	}
	all := []object{}
	for _, k := range s.skills() {
		all = append(all, k.entry())
	}
	return encodeOffer(object{"skills": all})
}

func (s *Server) getSkill(_ context.Context, m message) (reply, error) {
	k, err := s.skill(m.uri)
	if err != nil {
		return reply{}, err
	}
	return encodeOffer(object{"skill": k.entry()})
}
