// Package hostapi defines the documents about hosts, as people write them and kubectl shows them. Metal3's are
// BareMetalHost, HardwareData, DataImage, BMCEventSubscription and PreprovisioningImage; for firmware
// HostFirmwareSettings, FirmwareSchema, HostFirmwareComponents and HostUpdatePolicy; for several tenants HostClaim and
// HostDeployPolicy; for switches HostNetworkAttachment and BareMetalSwitch. Kubernetes' own that go with them are
// Secret, Namespace and Event. Kinds is the table of the writable ones.
//
// It has the shape of each, its words, and the rules for its fields. The struct tags "rule" and "doc" yield the checks
// and the OpenAPI schema; host_rules.go has the rules between fields.
//
// Shapes are those in metal3.io/v1alpha1 (baremetal-operator 0.14) and core/v1. The package must not act on documents:
// that is the part of conductor/extras/hosts/host.
package hostapi

import "strings"

// Groups and versions the documents are written in.
const (
	Group   = "metal3.io"
	Version = "v1alpha1"
	// APIVersion is the apiVersion of Metal3's documents.
	APIVersion = Group + "/" + Version
	// CoreVersion is the same of Secrets.
	CoreVersion = "v1"
)

// Kinds of documents.
const (
	KindHost         = "BareMetalHost"
	KindHardwareData = "HardwareData"
	KindDataImage    = "DataImage"
	KindSecret       = "Secret"
	KindNamespace    = "Namespace"

	KindFirmwareSettings   = "HostFirmwareSettings"
	KindFirmwareSchema     = "FirmwareSchema"
	KindFirmwareComponents = "HostFirmwareComponents"
	KindUpdatePolicy       = "HostUpdatePolicy"

	KindClaim                = "HostClaim"
	KindDeployPolicy         = "HostDeployPolicy"
	KindSubscription         = "BMCEventSubscription"
	KindPreprovisioningImage = "PreprovisioningImage"
	KindNetworkAttachment    = "HostNetworkAttachment"
	KindSwitch               = "BareMetalSwitch"
)

// Finalizer keeps a deleted host until its machine has been released.
const Finalizer = "baremetalhost.metal3.io"

// SecretFinalizer keeps a deleted secret while a host needs it to be released.
const SecretFinalizer = Finalizer + "/secret"

// LabelEnvironment is on the secrets that hosts name, with this value unless the user has set another.
const (
	LabelEnvironment     = "environment.metal3.io"
	EnvironmentBaremetal = "baremetal"
)

// Annotations people steer a host by.
const (
	// AnnotationPaused: nothing is done about the host while it is there.
	AnnotationPaused = "baremetalhost.metal3.io/paused"
	// AnnotationDetached lets the machine run by itself; its value is a Detach in
	// JSON, or anything else for the default.
	AnnotationDetached = "baremetalhost.metal3.io/detached"
	// AnnotationStatus has a status in JSON, taken over by a host that has none.
	AnnotationStatus = "baremetalhost.metal3.io/status"
	// AnnotationReboot asks for one reboot; with "/key" behind it, to stay off
	// until it is removed. Its value is a Reboot in JSON, or empty.
	AnnotationReboot = "reboot.metal3.io"
	// AnnotationInspect asks for one more inspection, or with InspectDisabled
	// for none at all.
	AnnotationInspect = "inspect.metal3.io"
	InspectDisabled   = "disabled"
	// AnnotationHardware has Hardware in JSON, for hosts that are not inspected.
	AnnotationHardware = "inspect.metal3.io/hardwaredetails"
	// AnnotationReprovision asks to erase a machine and to write the image again, after its node was changed outside
	// of its host. It is removed as soon as it is read, and does nothing to a machine that runs its workload.
	AnnotationReprovision = "ferrite/reprovision"
	// AnnotationGroup names the conductor group of the host's node. Without it, a new node is in the default group,
	// and an existing node keeps its group.
	AnnotationGroup = "ferrite/conductor-group"
)

// IsReboot reports whether an annotation requests a reboot.
func IsReboot(annotation string) bool {
	return annotation == AnnotationReboot || strings.HasPrefix(annotation, AnnotationReboot+"/")
}

// Reboot is the value of a reboot annotation.
type Reboot struct {
	Mode  RebootMode `json:"mode"`
	Force bool       `json:"force"`
}

// RebootMode is how a machine is asked to go down: soft when left out.
type RebootMode string

// Ways to reboot.
const (
	RebootHard RebootMode = "hard"
	RebootSoft RebootMode = "soft"
)

// Detach is the value of the detached annotation. It says how a deletion of the detached host acts ("delay" it until
// the host is attached again, or "delete", also the default), and whether a host in the middle of an operation is
// released.
type Detach struct {
	DeleteAction string `json:"deleteAction,omitempty"`
	Force        bool   `json:"force,omitempty"`
}

// Values of Detach.DeleteAction.
const (
	DeleteDelay  = "delay"
	DeleteDelete = "delete"
)
