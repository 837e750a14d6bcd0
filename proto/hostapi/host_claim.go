package hostapi

import (
	"fmt"
	"slices"
	"strings"
)

// HostClaim requests a machine of a pool. Its namespace needs none of the machine's secrets: a host is bound to the
// claim, and given the claim's workload, if a HostDeployPolicy of the host's namespace allows that.
type HostClaim struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec   HostClaimSpec   `json:"spec,omitzero" doc:"The machine that is wanted, and its workload."`
	Status HostClaimStatus `json:"status,omitzero" doc:"The bound host, written by the conductor."`
}

// HostClaimSpec is the wanted machine and its workload.
type HostClaimSpec struct {
	PoweredOn     bool             `json:"poweredOn" doc:"Whether the machine is to be powered on."`
	Image         *Image           `json:"image,omitempty" doc:"The image for the machine. Its secret is one of the claim's namespace."`
	UserData      *SecretReference `json:"userData,omitempty" doc:"Secret of the claim's namespace with the user data of cloud-init."`
	NetworkData   *SecretReference `json:"networkData,omitempty" doc:"Secret of the claim's namespace with the network data of cloud-init."`
	MetaData      *SecretReference `json:"metaData,omitempty" doc:"Secret of the claim's namespace with further meta data of cloud-init."`
	CustomDeploy  *CustomDeploy    `json:"customDeploy,omitempty" doc:"A deploy step of the site's own ramdisk, in place of an image."`
	HostSelector  HostSelector     `json:"hostSelector,omitzero" doc:"Which hosts may be bound; any when left out."`
	ConsumerRef   *ObjectReference `json:"consumerRef,omitempty" doc:"The user of the claim. Kept for clients."`
	FailureDomain string           `json:"failureDomain,omitempty" rule:"form=value" doc:"Hosts with this value of the label infrastructure.cluster.x-k8s.io/failure-domain are preferred."`
}

// HostSelector selects hosts by their labels, and by their namespace. All that is given must hold.
type HostSelector struct {
	MatchLabels      map[string]string         `json:"matchLabels,omitempty" rule:"form=labels" doc:"Labels that the host must have, with their values."`
	MatchExpressions []HostSelectorRequirement `json:"matchExpressions,omitempty" doc:"Conditions on labels of the host."`
	InNamespace      string                    `json:"inNamespace,omitempty" rule:"form=label" doc:"Namespace of the host; each that allows the claim when left out."`
}

// HostSelectorRequirement is one condition on a label.
type HostSelectorRequirement struct {
	Key      string   `json:"key" rule:"required,form=qualified" doc:"Name of the label."`
	Operator string   `json:"operator" rule:"required" doc:"One of in, notin, exists, !, =, == and !=."`
	Values   []string `json:"values" rule:"form=value" doc:"Values to compare with."`
}

// HostClaimStatus is the bound host.
type HostClaimStatus struct {
	LastUpdated   *Time           `json:"lastUpdated,omitempty" doc:"When the status was last written."`
	Conditions    []Condition     `json:"conditions,omitempty" doc:"Whether a host is bound (Associated), has the claim's workload (Synchronized) and runs it (Provisioned)."`
	BareMetalHost *BoundReference `json:"bareMetalHost,omitempty" doc:"The bound host."`
	HardwareData  *BoundReference `json:"hardwareData,omitempty" doc:"The HardwareData of the bound host."`
	PoweredOn     bool            `json:"poweredOn,omitempty" doc:"Whether the machine is powered on."`
}

// BoundReference names a document of any namespace.
type BoundReference struct {
	Namespace string `json:"namespace" doc:"Its namespace."`
	Name      string `json:"name" doc:"Its name."`
}

// HostClaimFinalizer keeps a deleted claim until its host has no workload.
const HostClaimFinalizer = "metal3.io/hostclaim"

// FailureDomainLabel is the label of hosts that HostClaimSpec.FailureDomain is compared with.
const FailureDomainLabel = "infrastructure.cluster.x-k8s.io/failure-domain"

// Types of conditions of a HostClaim, beside a host's.
const (
	ConditionAssociated   = "Associated"
	ConditionSynchronized = "Synchronized"
)

// SelectorOperator is an operator in the form that selectors compare it: Kubernetes' own words are taken in any case.
func SelectorOperator(text string) string {
	switch word := strings.ToLower(text); word {
	case "doesnotexist":
		return "!"
	case "==":
		return "="
	default:
		return word
	}
}

// checkClaim has the rules of Metal3's webhook.
func checkClaim(c *HostClaim, add report) {
	for i, r := range c.Spec.HostSelector.MatchExpressions {
		checkRequirement(fmt.Sprintf("spec.hostSelector.matchExpressions[%d].", i), r, add)
	}
	checkImageAt("spec.image", c.Spec.Image, add)
	for _, name := range sortedKeys(c.Annotations) {
		if IsReboot(name) {
			checkReboot("metadata.annotations["+name+"]", c.Annotations[name], add)
		}
	}
}

func checkRequirement(path string, r HostSelectorRequirement, add report) {
	wrong := ""
	switch SelectorOperator(r.Operator) {
	case "in", "notin":
		if len(r.Values) == 0 {
			wrong = "expected one or more"
		}
	case "=", "!=":
		if len(r.Values) != 1 {
			wrong = "expected one"
		}
	case "exists", "!":
		if len(r.Values) > 0 {
			wrong = "expected none"
		}
	default:
		choices := []string{"in", "notin", "exists", "!", "=", "==", "!="}
		if r.Operator != "" { // the tags report ""
			add(Problem{Path: path + "operator", Value: r.Operator,
				Reason: "expected one of " + strings.Join(choices, ", "), Choices: choices})
		}
		return
	}
	if wrong != "" {
		add(Problem{Path: path + "values", Value: fmt.Sprint(len(r.Values)),
			Reason: wrong + " for the operator " + r.Operator})
	}
}

// Matches reports whether a host's labels fulfil a selector that Check accepts. The namespace is not looked at.
func (s HostSelector) Matches(labels map[string]string) bool {
	for name, want := range s.MatchLabels {
		if value, has := labels[name]; !has || value != want {
			return false
		}
	}
	for _, r := range s.MatchExpressions {
		value, has := labels[r.Key]
		among := has && slices.Contains(r.Values, value)
		holds := false
		switch SelectorOperator(r.Operator) {
		case "in", "=":
			holds = among
		case "notin", "!=":
			holds = !among
		case "exists":
			holds = has
		case "!":
			holds = !has
		}
		if !holds {
			return false
		}
	}
	return true
}
