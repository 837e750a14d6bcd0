package hostapi

import "fmt"

// Warnings lists the fields of a document that are kept and have no effect, or will be refused when they are used, in
// words for the sender of the document.
func Warnings(d Document) (all []string) {
	switch d := d.(type) {
	case *Host:
		all = append(ForeignSecrets(d.Namespace, d.Spec.UserData, d.Spec.NetworkData, d.Spec.MetaData), WithoutEffect(d)...)
	case *HostClaim:
		all = ForeignSecrets(d.Namespace, d.Spec.UserData, d.Spec.NetworkData, d.Spec.MetaData)
	case *HostDeployPolicy:
		if d.Spec.HostClaimNamespaces == nil {
			all = append(all, "spec.hostClaimNamespaces is missing: the policy allows no claim")
		}
	case *HostNetworkAttachment, *BareMetalSwitch:
		all = append(all, NoSwitches)
	}
	return all
}

// NoSwitches is the reason why documents about switches have no effect.
const NoSwitches = "this conductor configures no switches: the document is kept and has no effect"

// WithoutEffect lists the fields of a host that have no effect, with the reasons.
func WithoutEffect(h *Host) (all []string) {
	if len(h.Spec.Taints) > 0 {
		all = append(all,
			"spec.taints has no effect: Metal3 never acted on it; set taints where the cluster's machine is made")
	}
	if len(h.Spec.NetworkInterfaces) > 0 {
		all = append(all, "spec.networkInterfaces has no effect: this conductor configures no switches")
	}
	return all
}

// ForeignSecrets lists the references to secrets of another namespace than the document's.
func ForeignSecrets(own string, userData, networkData, metaData *SecretReference) (all []string) {
	for _, r := range []struct {
		name string
		ref  *SecretReference
	}{{"userData", userData}, {"networkData", networkData}, {"metaData", metaData}} {
		if r.ref != nil && r.ref.Foreign(own) {
			all = append(all, fmt.Sprintf("spec.%s names a secret of namespace %s, which is refused when it is used: only "+
				"secrets of the document's own namespace, %s, may be used", r.name, r.ref.Namespace, own))
		}
	}
	return all
}

// Foreign reports whether a reference of a document in a namespace names a secret of another namespace.
func (r *SecretReference) Foreign(own string) bool { return r.Namespace != "" && r.Namespace != own }
