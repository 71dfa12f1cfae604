// Command chart renders a Helm chart with Helm's own engine, as `helm lint` and `helm install` would.
//
//	chart FOLDER < cases.json
//
// A case is {"release", "namespace", "version" of Kubernetes, "values"}. For each of them the output has what the linter
// says, then the objects in the order of their installation, or the error.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/yaml"
)

type question struct {
	Release   string         `json:"release"`
	Namespace string         `json:"namespace"`
	Version   string         `json:"version"`
	Values    map[string]any `json:"values"`
}

type answer struct {
	Lint    []string          `json:"lint"`
	Objects []json.RawMessage `json:"objects"`
	Notes   string            `json:"notes"`
	Error   string            `json:"error,omitempty"`
}

func main() {
	if len(os.Args) != 2 {
		fail("usage: chart FOLDER < cases.json")
	}
	var cases []question
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		fail(err)
	}
	answers := []answer{}
	for _, one := range cases {
		answers = append(answers, ask(os.Args[1], one))
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		fail(err)
	}
}

func fail(why any) {
	fmt.Fprintln(os.Stderr, "chart:", why)
	os.Exit(1)
}

func ask(folder string, one question) answer {
	said := answer{Lint: []string{}, Objects: []json.RawMessage{}}
	version, err := chartutil.ParseKubeVersion(one.Version)
	if err == nil {
		for _, message := range lint.AllWithKubeVersion(folder, one.Values, one.Namespace, version).Messages {
			said.Lint = append(said.Lint, message.Error())
		}
		err = render(folder, one, version, &said)
	}
	if err != nil {
		said.Error = err.Error()
	}
	return said
}

func render(folder string, one question, version *chartutil.KubeVersion, said *answer) error {
	chart, err := loader.Load(folder)
	if err != nil {
		return err
	}
	if !chartutil.IsCompatibleRange(chart.Metadata.KubeVersion, version.String()) {
		return fmt.Errorf("not for Kubernetes %s", version)
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = *version
	options := chartutil.ReleaseOptions{Name: one.Release, Namespace: one.Namespace, Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, one.Values, options, capabilities)
	if err != nil {
		return err
	}
	files, err := engine.Engine{}.Render(chart, values)
	if err != nil {
		return err
	}
	notes := chart.Name() + "/templates/NOTES.txt"
	said.Notes = files[notes]
	delete(files, notes)
	_, manifests, err := releaseutil.SortManifests(files, capabilities.APIVersions, releaseutil.InstallOrder)
	if err != nil {
		return err
	}
	for _, manifest := range manifests {
		object, err := yaml.YAMLToJSONStrict([]byte(manifest.Content))
		if err != nil {
			return fmt.Errorf("%s: %w", manifest.Name, err)
		}
		if err := known(object); err != nil {
			return fmt.Errorf("%s: %w", manifest.Name, err)
		}
		said.Objects = append(said.Objects, object)
	}
	return nil
}

// Objects that no API server of the lab knows must have the fields of their Go types, and no others.
func known(object []byte) error {
	var about struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(object, &about); err != nil {
		return err
	}
	if about.APIVersion != monitoring.SchemeGroupVersion.String() {
		return nil
	}
	if about.Kind != monitoring.PodMonitorsKind {
		return fmt.Errorf("kind %s is not known here", about.Kind)
	}
	var monitor monitoring.PodMonitor
	if err := yaml.UnmarshalStrict(object, &monitor); err != nil {
		return err
	}
	for _, one := range monitor.Spec.PodMetricsEndpoints {
		if err := one.TLSConfig.Validate(); err != nil {
			return err
		}
	}
	return nil
}
