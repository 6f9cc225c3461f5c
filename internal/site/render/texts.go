package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
)

// Texts are texts of pages by their keys, in Spanish and in English.
type Texts map[string][2]string

// bilingual is a text as the files have it.
type bilingual struct {
	ES string `json:"es"`
	EN string `json:"en"`
}

// ReadTexts reads all tables texts/*.json of a folder. Each is an object whose members
// are texts: {"key": {"es": "…", "en": "…"}}.
func ReadTexts(folder fs.FS) (Texts, error) {
	names, err := fs.Glob(folder, "texts/*.json")
	if err != nil {
		return nil, err
	}
	all := Texts{}
	for _, name := range names {
		body, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		table, err := parseTexts(body)
		if err == nil {
			err = all.add(table)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

// MustReadTexts is ReadTexts for files that are part of the program.
func MustReadTexts(folder fs.FS) Texts {
	all, err := ReadTexts(folder)
	if err != nil {
		panic(err) // a test reads them
	}
	return all
}

// add adds the texts of a table. No key may be in two.
func (all Texts) add(table Texts) error {
	for key := range table {
		if _, twice := all[key]; twice {
			return fmt.Errorf("there is another text %q", key)
		}
	}
	maps.Copy(all, table)
	return nil
}

// parseTexts reads one table. It reads the keys one by one, since a map would hide that
// a key is there twice.
func parseTexts(body []byte) (Texts, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("the table is not a JSON object")
	}
	table := Texts{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := name.(string) // names of members are strings
		var in bilingual
		if err := d.Decode(&in); err != nil {
			return nil, fmt.Errorf("%q: %w", key, err)
		}
		if err := table.add(Texts{key: {in.ES, in.EN}}); err != nil {
			return nil, err
		}
		if err := checkText(in); err != nil {
			return nil, fmt.Errorf("%q %w", key, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the table")
	}
	return table, nil
}

// parameter matches a parameter of a text.
var parameter = regexp.MustCompile(`%[^%]`)

// checkText expects both languages, with the same parameters in the same order.
func checkText(t bilingual) error {
	if t.ES == "" || t.EN == "" {
		return errors.New("lacks a language: it needs es and en")
	}
	es := parameter.FindAllString(t.ES, -1)
	en := parameter.FindAllString(t.EN, -1)
	if !slices.Equal(es, en) {
		return fmt.Errorf("has the parameters %q in Spanish and %q in English", es, en)
	}
	return nil
}
