package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// fromMetal3 converts documents of a cluster for a conductor. It keeps the kinds that hosts need, and drops the
// cluster's own notes.
type fromMetal3 struct {
	unpause bool
	keep    []manifest
	notes   []string // differences from the cluster
	left    []string // documents left out, with reasons
}

// restingHosts are the states in which Metal3 does nothing to a machine.
var restingHosts = []hostapi.State{hostapi.StateNone, hostapi.StateUnmanaged, hostapi.StateAvailable,
	hostapi.StateReady, hostapi.StateProvisioned, hostapi.StateExternallyProvisioned}

// aboutHosts are the kinds of documents that name hosts and have a status of the cluster.
var aboutHosts = []string{hostapi.KindClaim, hostapi.KindDeployPolicy, hostapi.KindSubscription,
	hostapi.KindNetworkAttachment, hostapi.KindSwitch}

// ownMade are the kinds of documents that Metal3's operator makes by itself, as the conductor does or need not.
var ownMade = []string{hostapi.KindFirmwareSchema, hostapi.KindPreprovisioningImage}

// take chooses among the documents.
func (f *fromMetal3) take(all []manifest) {
	var others []manifest
	hosts, secrets := map[string]bool{}, map[string]bool{}
	for _, m := range all {
		switch {
		case m.err != nil:
			f.left = append(f.left, fmt.Sprintf("%s: %v", m.from, m.err))
		case m.kind.Kind != hostapi.KindHost:
			others = append(others, m)
		default:
			if why := f.host(&m); why != "" {
				f.left = append(f.left, fmt.Sprintf("host %s: %s", placeOf(m), why))
				continue
			}
			hosts[placeOf(m)] = true
			for _, name := range secretsOf(m) {
				secrets[name] = true
			}
			f.keep = append(f.keep, m)
		}
	}
	for _, m := range others {
		switch label := placeOf(m); {
		case m.kind.Kind == hostapi.KindNamespace:
		case m.kind.Kind == hostapi.KindSecret && !secrets[label]: // of others: no business of a conductor
			continue
		case slices.Contains(aboutHosts, m.kind.Kind):
			f.left = append(f.left, fmt.Sprintf("%s %s: apply it when its hosts are here", m.kind.Kind, label))
			continue
		case slices.Contains(ownMade, m.kind.Kind), m.kind.Kind != hostapi.KindSecret && !hosts[label]:
			continue // or its host is left out
		}
		plainDocument(m.object)
		delete(m.object, "status")
		delete(secrets, placeOf(m))
		f.keep = append(f.keep, m)
	}
	for _, name := range sortedNames(secrets) {
		f.notes = append(f.notes, fmt.Sprintf("secret %s is named by a host and is not among the documents: add it, or have "+
			"it on the conductor already", name))
	}
}

func sortedNames(m map[string]bool) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// placeOf is namespace/name of a document; the namespace may be empty.
func placeOf(m manifest) string { return m.namespace() + "/" + m.name() }

// plainDocument reduces the metadata to the fields that people write.
func plainDocument(object map[string]any) {
	meta, _ := object["metadata"].(map[string]any)
	out := map[string]any{}
	for _, key := range []string{"name", "namespace", "labels", "annotations"} {
		if meta[key] != nil {
			out[key] = meta[key]
		}
	}
	if annotations, ok := out["annotations"].(map[string]any); ok {
		delete(annotations, lastApplied)
		if len(annotations) == 0 {
			delete(out, "annotations")
		}
	}
	object["metadata"] = out
}

// host makes a host take up where Metal3 leaves it, or says why it is left out.
func (f *fromMetal3) host(m *manifest) (leftOut string) {
	raw, err := json.Marshal(m.object)
	if err != nil {
		return err.Error()
	}
	var h hostapi.Host
	if err := json.Unmarshal(raw, &h); err != nil {
		return fmt.Sprintf("it cannot be read: %v", err)
	}
	state := h.Status.Provisioning.State
	switch meta, _ := m.object["metadata"].(map[string]any); {
	case meta["deletionTimestamp"] != nil:
		return "it is being deleted"
	case !slices.Contains(restingHosts, state):
		return fmt.Sprintf("Metal3 is at work on it (%s): import it again when that has ended", state)
	case h.Status.OperationalStatus == hostapi.StatusServicing:
		return "Metal3 is servicing it: import it again when that has ended"
	}
	plainDocument(m.object)
	delete(m.object, "status")
	annotations := annotationsOf(m.object)
	f.dropRequests(*m, annotations)
	if _, paused := annotations[hostapi.AnnotationPaused]; paused && f.unpause {
		delete(annotations, hostapi.AnnotationPaused)
	} else if paused {
		f.notes = append(f.notes, fmt.Sprintf("host %s stays paused: remove its annotation %s when Metal3 no longer looks "+
			"after it, or import with --unpause", placeOf(*m), hostapi.AnnotationPaused))
	}
	if state == hostapi.StateNone || state == hostapi.StateUnmanaged {
		return ""
	}
	if h.Status.PoweredOn != h.Spec.Online && !detached(annotations) {
		f.notes = append(f.notes, fmt.Sprintf("host %s: spec.online is %v and the machine's power is not: it will be "+
			"switched, as Metal3 would", placeOf(*m), h.Spec.Online))
	}
	return restoredStatus(h, annotations)
}

// dropRequests leaves out the requests to Metal3, which it may have fulfilled since: an import does nothing to a
// machine.
func (f *fromMetal3) dropRequests(m manifest, annotations map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		reboot := name == hostapi.AnnotationReboot || strings.HasPrefix(name, hostapi.AnnotationReboot+"/")
		if !reboot && (name != hostapi.AnnotationInspect || annotations[name] == hostapi.InspectDisabled) {
			continue
		}
		delete(annotations, name)
		f.notes = append(f.notes, fmt.Sprintf("host %s: its annotation %s is left out: it would reboot or inspect the "+
			"machine; set it here if that is still to be done", placeOf(m), name))
	}
}

func detached(annotations map[string]any) bool {
	_, ok := annotations[hostapi.AnnotationDetached]
	return ok
}

func annotationsOf(object map[string]any) map[string]any {
	meta, _ := object["metadata"].(map[string]any)
	annotations, ok := meta["annotations"].(map[string]any)
	if !ok {
		annotations = map[string]any{}
		meta["annotations"] = annotations
	}
	return annotations
}

// restoredStatus copies the status into the annotation from which a new host restores it. The conductor ignores an
// invalid status, and would start over with the machine: such a host is left out.
func restoredStatus(h hostapi.Host, annotations map[string]any) (leftOut string) {
	if given, ok := annotations[hostapi.AnnotationStatus].(string); ok && h.Status.LastUpdated == nil {
		var brought hostapi.HostStatus
		if err := json.Unmarshal([]byte(given), &brought); err != nil {
			return fmt.Sprintf("its annotation %s cannot be read: %v", hostapi.AnnotationStatus, err)
		}
		return ""
	}
	if p := slices.IndexFunc(hostapi.Check(&h), func(p hostapi.Problem) bool {
		return strings.HasPrefix(p.Path, "status.")
	}); p >= 0 {
		problem := hostapi.Check(&h)[p]
		return fmt.Sprintf("%s: %s", problem.Path, problem.Reason)
	}
	h.Status.Provisioning.ID = ""      // of Ironic's node
	raw, err := json.Marshal(h.Status) // without the fields of a newer release
	if err != nil {
		return err.Error()
	}
	annotations[hostapi.AnnotationStatus] = string(raw)
	return ""
}

// secretsOf are the secrets that a host names, as namespace/name.
func secretsOf(m manifest) (all []string) {
	spec, _ := m.object["spec"].(map[string]any)
	add := func(namespace string, name any) {
		if text, ok := name.(string); ok && text != "" {
			all = append(all, namespace+"/"+text)
		}
	}
	bmc, _ := spec["bmc"].(map[string]any)
	image, _ := spec["image"].(map[string]any)
	add(m.namespace(), bmc["credentialsName"])
	add(m.namespace(), image["ociAuthSecretName"])
	add(m.namespace(), spec["preprovisioningNetworkDataName"])
	for _, key := range []string{"userData", "networkData", "metaData"} {
		if ref, ok := spec[key].(map[string]any); ok {
			namespace, _ := ref["namespace"].(string)
			if namespace == "" {
				namespace = m.namespace()
			}
			add(namespace, ref["name"])
		}
	}
	return all
}
