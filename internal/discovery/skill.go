package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// skillType is the media type of a skill.
const skillType = `text/markdown; profile="urn:air:agent-skills"`

// SkillType returns the media type of a skill.
func (f *facts) SkillType() string { return skillType }

// skill is an instruction for agents that use the service.
type skill struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Digest      string `json:"digest"`
}

// writeSkills adds the skills, each from the template of its name, and their
// index (the agent skills discovery proposal, 0.2.0).
func writeSkills(f *facts, e edition) error {
	files, err := fs.Glob(templates, "templates/skills/*.md")
	if err != nil {
		return err
	}
	for _, file := range files {
		body, err := f.render(path.Base(file))
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(path.Base(file), ".md")
		front := frontMatter(string(body))
		if front["name"] != name || front["description"] == "" {
			return fmt.Errorf("the skill %s has no name or description of its own", name)
		}
		at := skillsPath + name + "/SKILL.md"
		sum := sha256.Sum256(body)
		f.Skills = append(f.Skills, skill{
			Name: name, Type: "skill-md", Description: front["description"], URL: f.URL(at), Digest: "sha256:" + hex.EncodeToString(sum[:]),
		})
		e[at] = variants{{contentType: skillType + "; charset=utf-8", body: body}}
	}
	return f.addJSON(e, "application/json", "skills.json", nil, skillsPath+"index.json")
}

// frontMatter returns the names and values between the first two rules of a
// Markdown text.
func frontMatter(text string) map[string]string {
	out := map[string]string{}
	text, ok := strings.CutPrefix(text, "---\n")
	front, _, closed := strings.Cut(text, "\n---\n")
	if !ok || !closed {
		return out
	}
	for line := range strings.SplitSeq(front, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		out[name] = value
	}
	return out
}
