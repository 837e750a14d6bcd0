package kube

import (
	"net/http"
	"runtime"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// apiVersion is which Kubernetes the conventions are of that this package keeps.
const apiVersion = "1.30"

// version answers /version, for clients of Kubernetes.
func version() map[string]string {
	major, minor, _ := strings.Cut(apiVersion, ".")
	return map[string]string{
		"major": major, "minor": minor, "gitVersion": "v" + apiVersion + ".0+ferrite", "gitCommit": "", "gitTreeState": "",
		"buildDate": "1970-01-01T00:00:00Z", "goVersion": runtime.Version(), "compiler": runtime.Compiler,
		"platform": runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// doc is a JSON object that is written down once.
type doc = map[string]any

// resource is a kind, as discovery lists it.
type resource struct {
	Name       string   `json:"name"`
	Singular   string   `json:"singularName"`
	Namespaced bool     `json:"namespaced"`
	Kind       string   `json:"kind"`
	Verbs      []string `json:"verbs"`
	ShortNames []string `json:"shortNames,omitempty"`
	Categories []string `json:"categories,omitempty"`
}

// resources are the resources of a group.
func resources(group string) (all []resource) {
	for _, k := range hostapi.Kinds() {
		if k.Group != group {
			continue
		}
		all = append(all, resource{
			Name: k.Plural, Singular: k.Singular, Namespaced: k.Namespaced, Kind: k.Kind, ShortNames: k.Short,
			Categories: k.Categories,
			Verbs:      []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		})
		if k.Status {
			all = append(all, resource{Name: k.Plural + "/status", Namespaced: k.Namespaced, Kind: k.Kind,
				Verbs: []string{"get", "patch", "update"}})
		}
	}
	if group == "" {
		all = append(all, resource{
			Name: eventKind.Plural, Singular: eventKind.Singular, Namespaced: true, Kind: eventKind.Kind,
			Verbs: []string{"list", "watch"}, ShortNames: eventKind.Short,
		})
	}
	return all
}

// groupVersion is the one of a group.
func groupVersion(group string) string {
	if group == "" {
		return hostapi.CoreVersion
	}
	return group + "/" + hostapi.Version
}

// discovery answers the lists of groups and resources.
func (s *Server) discovery(c *call, path []string) error {
	if c.Method != http.MethodGet {
		return noMethod()
	}
	core := map[string]func() any{"api": coreVersions, "api/v1": func() any { return resourceList("") }}
	grouped := map[string]func() any{
		"apis": groups, "apis/" + hostapi.Group: func() any { return apiGroup() },
		"apis/" + hostapi.APIVersion: func() any { return resourceList(hostapi.Group) },
		definitionsPath:              definitions,
	}
	at := strings.Join(path, "/")
	if answer := core[at]; answer != nil {
		return s.discovered(c, at == "api", "", answer)
	}
	if answer := grouped[at]; answer != nil {
		return s.discovered(c, at == "apis", hostapi.Group, answer)
	}
	return noPath()
}

// discovered answers in the aggregated form where a client asks for it: all that
// is below a root at once.
func (s *Server) discovered(c *call, root bool, group string, plain func() any) error {
	for wanted := range strings.SplitSeq(c.Header.Get("Accept"), ",") {
		kind, params := mediaType(wanted)
		if root && kind == "application/json" && params["as"] == "APIGroupDiscoveryList" && params["g"] == discoveryGroup &&
			params["v"] == "v2" {
			return s.raw(c, "application/json;g="+discoveryGroup+";v=v2;as=APIGroupDiscoveryList", aggregated(group))
		}
	}
	return s.raw(c, "application/json", plain())
}

func coreVersions() any {
	return doc{"kind": "APIVersions", "versions": []string{hostapi.CoreVersion}, "serverAddressByClientCIDRs": []doc{}}
}

func groups() any {
	return doc{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{apiGroup()}}
}

func apiGroup() doc {
	v := doc{"groupVersion": hostapi.APIVersion, "version": hostapi.Version}
	return doc{"kind": "APIGroup", "apiVersion": "v1", "name": hostapi.Group, "versions": []doc{v}, "preferredVersion": v}
}

func resourceList(group string) any {
	return doc{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": groupVersion(group),
		"resources": resources(group)}
}

// discoveryGroup is the API group of the aggregated form.
const discoveryGroup = "apidiscovery.k8s.io"

// aggregated is the resources of a group with those below them.
func aggregated(group string) any {
	var all []doc
	for _, r := range resources(group) {
		gvk := doc{"group": group, "version": versionOf(group), "kind": r.Kind}
		if _, sub, ok := strings.Cut(r.Name, "/"); ok { // of the resource before it
			last := all[len(all)-1]
			last["subresources"] = []doc{{"subresource": sub, "responseKind": gvk, "verbs": r.Verbs}}
			continue
		}
		scope := "Cluster"
		if r.Namespaced {
			scope = "Namespaced"
		}
		d := doc{"resource": r.Name, "responseKind": gvk, "scope": scope, "singularResource": r.Singular, "verbs": r.Verbs}
		if r.ShortNames != nil {
			d["shortNames"] = r.ShortNames
		}
		if r.Categories != nil {
			d["categories"] = r.Categories
		}
		all = append(all, d)
	}
	return doc{"kind": "APIGroupDiscoveryList", "apiVersion": discoveryGroup + "/v2", "metadata": doc{}, "items": []doc{{
		"metadata": doc{"name": group},
		"versions": []doc{{"version": versionOf(group), "resources": all, "freshness": "Current"}},
	}}}
}

func versionOf(group string) string {
	if group == "" {
		return hostapi.CoreVersion
	}
	return hostapi.Version
}
