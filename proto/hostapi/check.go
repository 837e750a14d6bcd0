package hostapi

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	Path      string // "spec.bmc.address"
	Value     string // found value; "" when it is missing
	Reason    string // expected value
	Missing   bool   // it has to be there
	Forbidden bool   // it may not be there, or may not be changed
	Choices   []string
}

func (p Problem) String() string {
	if p.Missing || p.Forbidden || p.Value == "" {
		return p.Path + ": " + p.Reason
	}
	return fmt.Sprintf("%s: %q: %s", p.Path, p.Value, p.Reason)
}

// report takes one problem.
type report func(Problem)

// maxProblems bounds the problems reported of a document's status, and of the rest, which is
// written apart.
const maxProblems = 100

// bounded takes so many problems, and says where there are more.
func bounded(all *[]Problem) report {
	texts := map[bool]int{} // of the status, or of the rest
	return func(p Problem) {
		part := strings.HasPrefix(p.Path, "status")
		texts[part]++
		switch n := texts[part]; {
		case n <= maxProblems:
			*all = append(*all, p)
		case n == maxProblems+1:
			*all = append(*all,
				Problem{Path: p.Path, Reason: "more errors follow and are not listed: correct those above first",
					Forbidden: true})
		}
	}
}

// Check lists the faults of a document by itself, in the order of its fields; none when all is well.
func Check(d Document) (all []Problem) {
	add := bounded(&all)
	checkMeta(d, add)
	checkTags(d, add)
	switch d := d.(type) {
	case *Host:
		for _, r := range hostRules() {
			r.check(d, add)
		}
	case *Secret:
		checkSecret(d, add)
	case *DataImage:
		checkDataImage(d, add)
	case *HostFirmwareComponents:
		checkUpdates(d, add)
	case *HostClaim:
		checkClaim(d, add)
	case *HostDeployPolicy:
		checkDeployPolicy(d, add)
	case *BMCEventSubscription:
		checkSubscription(d, add)
	case *PreprovisioningImage:
		checkPreprovisioningImage(d, add)
	case *HostNetworkAttachment:
		checkNetworkAttachment(d, add)
	case *BareMetalSwitch, *HardwareData, *Namespace, *HostFirmwareSettings, *FirmwareSchema,
		*HostUpdatePolicy: // their tags say it all
	}
	return all
}

// CheckChange lists the changes between two versions of a document that are not allowed.
func CheckChange(old, next Document) (all []Problem) {
	add := func(p Problem) { all = append(all, p) }
	switch next := next.(type) {
	case *Host:
		if old, ok := old.(*Host); ok {
			checkHostChange(old, next, add)
		}
	case *Secret:
		if old, ok := old.(*Secret); ok {
			checkSecretChange(old, next, add)
		}
	case *BMCEventSubscription:
		if old, ok := old.(*BMCEventSubscription); ok {
			checkSubscriptionChange(old, next, add)
		}
	}
	return all
}

// checkMeta checks a document's name and namespace.
func checkMeta(d Document, add report) {
	m := d.Meta()
	if m.Name == "" {
		add(Problem{Path: "metadata.name", Reason: "a name or a generateName is required", Missing: true})
	}
	kind, ok := KindOf(d.About().Kind)
	switch {
	case !ok:
		add(Problem{Path: "kind", Value: d.About().Kind, Reason: "no such kind"})
	case kind.Namespaced && m.Namespace == "":
		add(Problem{Path: "metadata.namespace", Reason: "a namespace is required", Missing: true})
	case !kind.Namespaced && m.Namespace != "":
		add(Problem{Path: "metadata.namespace", Value: m.Namespace, Reason: "documents of this kind are in no namespace",
			Forbidden: true})
	case kind.Kind == KindNamespace:
		checkForm("metadata.name", "label", m.Name, add)
	}
}

// hidden stands in place of a password in this conductor's other API, as in Ironic's. In a Secret it is a value still
// to be filled in.
const hidden = "******"

// checkSecret refuses values that are still to be filled in.
func checkSecret(s *Secret, add report) {
	const reason = "it is still " + hidden + ", which the API shows in place of a secret: expected the real value"
	for _, key := range sortedKeys(s.Data) {
		if string(s.Data[key]) == hidden {
			add(Problem{Path: "data[" + key + "]", Reason: reason, Forbidden: true})
		}
	}
	for _, key := range sortedKeys(s.StringData) {
		if s.StringData[key] == hidden {
			add(Problem{Path: "stringData[" + key + "]", Reason: reason, Forbidden: true})
		}
	}
}

// checkSecretChange protects the immutable fields of a secret.
func checkSecretChange(old, next *Secret, add report) {
	if old.Type != next.Type {
		add(Problem{Path: "type", Value: next.Type, Reason: "field is immutable"})
	}
	if old.Immutable == nil || !*old.Immutable {
		return
	}
	if next.Immutable == nil || !*next.Immutable {
		add(Problem{Path: "immutable", Reason: "field is immutable when `immutable` is set", Forbidden: true})
	}
	same := len(old.Data) == len(next.Data)
	for k, v := range next.Data {
		was, ok := old.Data[k]
		same = same && ok && string(was) == string(v)
	}
	if !same {
		add(Problem{Path: "data", Reason: "field is immutable when `immutable` is set", Forbidden: true})
	}
}

// place is a path, of which the beginning may be empty.
func place(format string, args ...any) string {
	return strings.TrimPrefix(fmt.Sprintf(format, args...), ".")
}
