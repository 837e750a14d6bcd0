package host

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// credentialsNow is the secret as it is now, in the form the status keeps it in.
func (d *decision) credentialsNow() hostapi.Credentials {
	secret := d.facts.Secrets[d.h.Spec.BMC.CredentialsName]
	return hostapi.Credentials{
		Reference: &hostapi.SecretReference{Name: d.h.Spec.BMC.CredentialsName, Namespace: d.h.Namespace},
		Version:   secret.ResourceVersion,
	}
}

// sameCredentials compares by name and version.
func sameCredentials(a, b hostapi.Credentials) bool {
	return a.Reference != nil && b.Reference != nil && *a.Reference == *b.Reference && a.Version == b.Version
}
