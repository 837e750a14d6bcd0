package kube

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// definitionsPath is where a Kubernetes API server lists custom resource definitions.
// kubectl apply looks there for a kind that discovery does not list, and needs an answer to
// say that there is none.
const definitionsPath = "apis/" + definitionsGroup + "/v1/customresourcedefinitions"

const definitionsGroup = "apiextensions.k8s.io"

// definitions are the CustomResourceDefinitions of Metal3's kinds, reduced to the part that clients read: their names.
// Their schemas are in OpenAPI.
func definitions() any {
	all := []doc{}
	for _, k := range hostapi.Kinds() {
		if k.Group == "" {
			continue
		}
		all = append(all, doc{
			"apiVersion": definitionsGroup + "/v1", "kind": "CustomResourceDefinition",
			"metadata": doc{"name": k.Plural + "." + k.Group},
			"spec": doc{
				"group": k.Group, "scope": "Namespaced", "versions": []doc{{"name": k.Version, "served": true, "storage": true}},
				"names": doc{"kind": k.Kind, "plural": k.Plural, "singular": k.Singular, "shortNames": k.Short,
					"categories": k.Categories},
			},
		})
	}
	return doc{"kind": "CustomResourceDefinitionList", "apiVersion": definitionsGroup + "/v1",
		"metadata": doc{"resourceVersion": "1"}, "items": all}
}
