package hostapi

import (
	"regexp"
	"slices"
)

// HostDeployPolicy allows claims of other namespaces to bind the hosts of its own. Hosts of a namespace without a
// policy are bound to no claim.
type HostDeployPolicy struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec   HostDeployPolicySpec   `json:"spec,omitzero" doc:"Which claims are allowed."`
	Status HostDeployPolicyStatus `json:"status,omitzero" doc:"Always empty."`
}

// HostDeployPolicySpec is its one part.
type HostDeployPolicySpec struct {
	HostClaimNamespaces *HostClaimNamespaces `json:"hostClaimNamespaces,omitempty" doc:"The namespaces of allowed claims. Left out, the policy allows none."`
}

// HostClaimNamespaces selects namespaces. All that is given must hold; nothing given allows every namespace.
type HostClaimNamespaces struct {
	Names       []string        `json:"names,omitzero" rule:"form=label" doc:"The allowed names; an empty list allows none."`
	NameMatches string          `json:"nameMatches,omitempty" rule:"maxlen=1024" doc:"A regular expression (RE2) that must be found in the name: prod is found in not-prod, too; ^prod$ is not."`
	HasLabels   []NameValuePair `json:"hasLabels,omitempty" doc:"Labels that the Namespace must have."`
}

// NameValuePair is a label, with any value when there is none.
type NameValuePair struct {
	Name  string `json:"name" rule:"required,form=qualified" doc:"Name of the label."`
	Value string `json:"value,omitempty" rule:"form=value" doc:"Its value; any when left out."`
}

// HostDeployPolicyStatus is empty, as Metal3 has it.
type HostDeployPolicyStatus struct{}

// checkDeployPolicy refuses an expression that would match nothing, which Metal3 finds when a claim looks for a host.
func checkDeployPolicy(p *HostDeployPolicy, add report) {
	if p.Spec.HostClaimNamespaces == nil {
		return
	}
	text := p.Spec.HostClaimNamespaces.NameMatches
	if _, err := regexp.Compile(text); err != nil {
		add(Problem{Path: "spec.hostClaimNamespaces.nameMatches", Value: text,
			Reason: "expected a regular expression: " + err.Error()})
	}
}

// Allows reports whether claims of a namespace with these labels may bind hosts of the policy's namespace.
func (p HostDeployPolicy) Allows(namespace string, labels map[string]string) bool {
	of := p.Spec.HostClaimNamespaces
	if of == nil || of.Names != nil && !slices.Contains(of.Names, namespace) {
		return false
	}
	if of.NameMatches != "" {
		is, err := regexp.MatchString(of.NameMatches, namespace)
		if err != nil || !is {
			return false
		}
	}
	return !slices.ContainsFunc(of.HasLabels, func(l NameValuePair) bool {
		value, has := labels[l.Name]
		return !has || l.Value != "" && l.Value != value
	})
}
