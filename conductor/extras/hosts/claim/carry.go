package claim

import (
	"fmt"
	"maps"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// AnnotationClaim is on copies of a claim's secrets. It names the claim, as namespace/name.
const AnnotationClaim = "ferrite/hostclaim"

// reference is a field of a claim that names a secret.
type reference struct {
	field  string // of the claim
	suffix string // of the copy's name
	reason string // of the condition Synchronized without the secret: Metal3's words
}

var references = []reference{
	{"userData", "user-data", "UserDataSecretSyncFailure"},
	{"networkData", "network-data", "NetworkDataSecretSyncFailure"},
	{"metaData", "meta-data", "MetaDataSecretSyncFailure"},
	{"image.ociAuthSecretName", "oci-auth", "OCIAuthSecretSyncFailure"},
}

// named are the secrets that a claim names, in the order of references; nil for none.
func named(c hostapi.HostClaim) [4]*hostapi.SecretReference {
	all := [4]*hostapi.SecretReference{c.Spec.UserData, c.Spec.NetworkData, c.Spec.MetaData}
	if i := c.Spec.Image; i != nil && i.OCIAuthSecret != nil && *i.OCIAuthSecret != "" {
		all[3] = &hostapi.SecretReference{Name: *i.OCIAuthSecret}
	}
	return all
}

// SecretNames lists the secrets of its own namespace that a claim names. No other is ever read.
func SecretNames(c hostapi.HostClaim) (names []string) {
	for _, ref := range named(c) {
		if ref != nil && ref.Name != "" && !ref.Foreign(c.Namespace) {
			names = append(names, ref.Name)
		}
	}
	return names
}

// copyPrefix begins the names of the copies of a claim's secrets. No other document has such a name.
func copyPrefix(c hostapi.HostClaim) string { return "hostclaim-" + c.UID + "-" }

// secrets are the secrets that a host is to name for a claim, and the copies of them in the host's namespace. A host
// never gets the name of a secret that the claim's namespace does not have: it would be one of the host's namespace,
// such as the credentials of a BMC.
func (f Facts) secrets() (refs [4]*hostapi.SecretReference, copies []hostapi.Secret, reason string, err error) {
	for i, ref := range named(f.Claim) {
		if ref == nil {
			continue
		}
		of := references[i]
		if ref.Foreign(f.Claim.Namespace) {
			return refs, nil, of.reason, fmt.Errorf("spec.%s names a secret of namespace %s: only secrets of the claim's own, "+
				"%s, may be used", of.field, ref.Namespace, f.Claim.Namespace)
		}
		secret, ok := f.Secrets[ref.Name]
		if !ok {
			return refs, nil, of.reason, fmt.Errorf("the secret %s/%s of spec.%s does not exist", f.Claim.Namespace, ref.Name,
				of.field)
		}
		if f.Host.Namespace == f.Claim.Namespace {
			refs[i] = &hostapi.SecretReference{Name: ref.Name}
			continue
		}
		copied := hostapi.Secret{Type: secret.Type, Data: secret.Data, ObjectMeta: hostapi.ObjectMeta{
			Name: copyPrefix(f.Claim) + of.suffix, Namespace: f.Host.Namespace,
			Annotations:     map[string]string{AnnotationClaim: f.Claim.Namespace + "/" + f.Claim.Name},
			OwnerReferences: hostapi.WithOwner(nil, hostapi.KindHost, f.Host.ObjectMeta),
		}}
		copies = append(copies, copied)
		refs[i] = &hostapi.SecretReference{Name: copied.Name}
	}
	return refs, copies, "", nil
}

// carry is a host with a claim's workload.
func carry(h hostapi.Host, c hostapi.HostClaim, refs [4]*hostapi.SecretReference) hostapi.Host {
	s := &h.Spec
	s.Online, s.CustomDeploy, s.Image = c.Spec.PoweredOn || s.DisablePowerOff, c.Spec.CustomDeploy, nil
	s.UserData, s.NetworkData, s.MetaData = refs[0], refs[1], refs[2]
	if c.Spec.Image != nil {
		image := *c.Spec.Image
		if image.OCIAuthSecret = nil; refs[3] != nil {
			image.OCIAuthSecret = &refs[3].Name
		}
		s.Image = &image
	}
	return h
}

// emptied is a host without a claim's workload, and off. hadWorkload is false if it was so already.
func emptied(h hostapi.Host) (_ hostapi.Host, hadWorkload bool) {
	s := h.Spec
	hadWorkload = s.Image != nil || s.CustomDeploy != nil || s.UserData != nil || s.NetworkData != nil ||
		s.MetaData != nil || s.Online && !s.DisablePowerOff
	h = carry(h, hostapi.HostClaim{}, [4]*hostapi.SecretReference{})
	return withReboots(h, nil), hadWorkload
}

// rebootKey begins the keys of the reboot annotations that a claim gives its host.
const rebootKey = hostapi.AnnotationReboot + "/hostclaim."

// moveReboots gives the host the reboot annotations of its claim. The one without a key stands for one reboot: it
// moves from the claim to the host.
func (d *Decision) moveReboots(h hostapi.Host) hostapi.Host {
	wanted := map[string]string{}
	for name, v := range d.Claim.Annotations {
		if key, is := strings.CutPrefix(name, hostapi.AnnotationReboot+"/"); is {
			wanted[rebootKey+key] = v
		}
	}
	if value, once := d.Claim.Annotations[hostapi.AnnotationReboot]; once {
		wanted[hostapi.AnnotationReboot] = value
		d.Claim.Annotations = maps.Clone(d.Claim.Annotations)
		delete(d.Claim.Annotations, hostapi.AnnotationReboot)
	}
	return withReboots(h, wanted)
}

// withReboots is a host with these reboot annotations of its claim, and no others of it.
func withReboots(h hostapi.Host, wanted map[string]string) hostapi.Host {
	next := map[string]string{}
	maps.Copy(next, h.Annotations)
	maps.DeleteFunc(next, func(name, _ string) bool { return strings.HasPrefix(name, rebootKey) })
	maps.Copy(next, wanted)
	if !maps.Equal(next, h.Annotations) {
		h.Annotations = next
	}
	return h
}
