package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"pregon/internal/mcp"
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
		front, err := frontMatter(string(body))
		description, _ := front["description"].(string)
		if err != nil || front["name"] != name || description == "" {
			return fmt.Errorf("the skill %s has no name or description of its own: %w", name, err)
		}
		at := skillsPath + name + "/SKILL.md"
		sum := sha256.Sum256(body)
		digest := "sha256:" + hex.EncodeToString(sum[:])
		f.Skills = append(f.Skills, skill{
			Name:        name,
			Type:        "skill-md",
			Description: description,
			URL:         f.URL(at),
			Digest:      digest,
		})
		f.SkillTexts = append(f.SkillTexts, mcp.Skill{
			Name:   name,
			Front:  front,
			Body:   body,
			Digest: digest,
		})
		e[at] = variants{{contentType: skillType + "; charset=utf-8", body: body}}
	}
	return f.addJSON(e, "application/json", "skills.json", nil, skillsPath+"index.json")
}

// frontMatter returns the values between the first two rules of a Markdown text.
func frontMatter(text string) (out map[string]any, err error) {
	text, ok := strings.CutPrefix(text, "---\n")
	front, _, closed := strings.Cut(text, "\n---\n")
	if !ok || !closed {
		return nil, errors.New("there is no front matter")
	}
	return out, yaml.Unmarshal([]byte(front), &out)
}
