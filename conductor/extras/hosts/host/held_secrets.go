package host

import (
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// HeldSecrets lists the secrets that a deletion needs: the BMC's credentials, and the
// network of the ramdisk that cleans the disks. They stay for as long as the host has
// our finalizer. The other secrets are not needed once the machine is installed.
func HeldSecrets(h hostapi.Host) (names []string) {
	if !hasFinalizer(h) {
		return nil
	}
	for _, name := range []string{h.Spec.BMC.CredentialsName, h.Spec.PreprovisioningNetworkDataName} {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Claim is a secret that a host names as Metal3 marks it, and whether that changes
// it: with a label, and with a finalizer if it is among HeldSecrets. A secret
// that is being deleted takes no marks.
func Claim(h hostapi.Host, s hostapi.Secret) (_ hostapi.Secret, changed bool) {
	if !hasFinalizer(h) || s.DeletionTimestamp != nil {
		return s, false
	}
	if _, labelled := s.Labels[hostapi.LabelEnvironment]; !labelled {
		labels := map[string]string{hostapi.LabelEnvironment: hostapi.EnvironmentBaremetal}
		maps.Copy(labels, s.Labels)
		s.Labels, changed = labels, true
	}
	if slices.Contains(HeldSecrets(h), s.Name) && !slices.Contains(s.Finalizers, hostapi.SecretFinalizer) {
		s.Finalizers, changed = append(slices.Clone(s.Finalizers), hostapi.SecretFinalizer), true
	}
	return s, changed
}

// Unclaim is a secret that no host holds any more, and whether that changes it.
func Unclaim(s hostapi.Secret) (_ hostapi.Secret, changed bool) {
	kept := hostapi.WithoutFinalizer(s.Finalizers, hostapi.SecretFinalizer)
	changed = len(kept) < len(s.Finalizers)
	s.Finalizers = kept
	return s, changed
}
