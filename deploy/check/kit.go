// Package check builds the manifests of deploy/kubernetes as kubectl does, renders the
// chart of deploy/helm as Helm does, reads deploy/compose as Docker Compose does, and checks
// them against their schemas and the rest of the kit. It is a module of its own, so that
// the program does not depend on Kubernetes, Helm and Compose.
package check

import (
	"encoding/json"
	"errors"
	"fmt"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// kit is the set of objects of one kustomization or chart.
type kit struct {
	deployments []*appsv1.Deployment
	budgets     []*policyv1.PodDisruptionBudget
	policies    []*networkingv1.NetworkPolicy
	ingresses   []*networkingv1.Ingress
	services    []*corev1.Service
	configs     []*corev1.ConfigMap
	accounts    []*corev1.ServiceAccount
	monitors    []*monitoringv1.PodMonitor
}

// build returns the objects of the kustomization in dir, as JSON.
func build(dir string) ([][]byte, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	var objects [][]byte
	for _, resource := range built.Resources() {
		object, err := resource.MarshalJSON()
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// parse decodes the objects. A field that their types do not have is an error.
func parse(objects [][]byte) (*kit, error) {
	k := &kit{}
	for _, object := range objects {
		if err := k.add(object); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (k *kit) add(object []byte) error {
	var header metav1.TypeMeta
	if err := json.Unmarshal(object, &header); err != nil {
		return err
	}
	switch kind := header.APIVersion + " " + header.Kind; kind {
	case "apps/v1 Deployment":
		return decode(object, &k.deployments)
	case "policy/v1 PodDisruptionBudget":
		return decode(object, &k.budgets)
	case "networking.k8s.io/v1 NetworkPolicy":
		return decode(object, &k.policies)
	case "networking.k8s.io/v1 Ingress":
		return decode(object, &k.ingresses)
	case "v1 Service":
		return decode(object, &k.services)
	case "v1 ConfigMap":
		return decode(object, &k.configs)
	case "v1 ServiceAccount":
		return decode(object, &k.accounts)
	case "monitoring.coreos.com/v1 PodMonitor":
		return decode(object, &k.monitors)
	default:
		return fmt.Errorf("%s is not a kind that is checked: add it to the check", kind)
	}
}

func decode[T any](object []byte, into *[]*T) error {
	value := new(T)
	strict, err := strictjson.UnmarshalStrict(object, value)
	if err := errors.Join(append(strict, err)...); err != nil {
		return fmt.Errorf("%T: %w", *value, err)
	}
	*into = append(*into, value)
	return nil
}
