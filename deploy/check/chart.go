package check

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

// chart is what Helm renders of deploy/helm/pregon.
type chart struct {
	objects [][]byte // as JSON
	notes   string   // what Helm prints after it has installed them
}

// render renders the chart in dir as `helm install RELEASE` does, with values in YAML.
func render(dir, release, values string) (*chart, error) {
	loaded, err := loader.Load(dir)
	if err != nil {
		return nil, err
	}
	given, err := loader.LoadValues(strings.NewReader(values))
	if err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{
		Name:      release,
		Namespace: "pregon",
		Revision:  1,
		IsInstall: true,
	}
	all, err := util.ToRenderValues(loaded, given, options, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(loaded, all)
	if err != nil {
		return nil, err
	}
	c := &chart{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Base(name) == "NOTES.txt" {
			c.notes = files[name]
			continue
		}
		if err := c.add(files[name]); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", name, err, files[name])
		}
	}
	return c, nil
}

// add adds the objects of a file, which may be empty.
func (c *chart) add(file string) error {
	for document := range strings.SplitSeq("\n"+file, "\n---\n") {
		object, err := yaml.YAMLToJSONStrict([]byte(document))
		if err != nil {
			return err
		}
		if string(object) != "null" {
			c.objects = append(c.objects, object)
		}
	}
	return nil
}
