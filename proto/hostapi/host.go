package hostapi

// Host is a BareMetalHost: a machine as it is wanted, and as it is.
type Host struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec   HostSpec   `json:"spec" doc:"The machine as it is wanted."`
	Status HostStatus `json:"status,omitzero" doc:"The machine as it is, written by the conductor."`
}

// NodeName is the name of the node behind a host.
func NodeName(namespace, name string) string { return namespace + NodeNameSeparator + name }

// NodeNameSeparator is between the two parts of NodeName. It is in neither.
const NodeNameSeparator = "~"

// Uninspected reports whether the machine must not be inspected.
func (h *Host) Uninspected() bool {
	return h.Spec.InspectionMode == InspectionDisabled || h.Annotations[AnnotationInspect] == InspectDisabled
}

// HostSpec is a machine as it is wanted.
type HostSpec struct {
	Taints                         []Taint            `json:"taints,omitempty" doc:"Deprecated, and without effect, as in Metal3; the condition FieldsUsed reports that."`
	BMC                            BMC                `json:"bmc,omitzero" doc:"How the machine's controller is reached. Without it nothing is done about the machine."`
	RAID                           *RAID              `json:"raid,omitempty" doc:"Wanted volumes. Left out, the present volumes stay."`
	Firmware                       *Firmware          `json:"firmware,omitempty" doc:"Three settings of the BIOS, under the names that its vendor has for them. HostFirmwareSettings has all, and prevails."`
	HardwareProfile                string             `json:"hardwareProfile,omitempty" doc:"Deprecated: the root disk of a host without rootDeviceHints, by a name such as unknown (/dev/sda), libvirt (/dev/vda) or dell (SCSI address 0:0:0:0)."`
	RootDeviceHints                *RootDeviceHints   `json:"rootDeviceHints,omitempty" doc:"Onto which disk the image is written. All hints that are given must hold."`
	BootMode                       BootMode           `json:"bootMode,omitempty" rule:"enum=UEFI/UEFISecureBoot/legacy" doc:"How the firmware starts the machine; UEFI when left out."`
	BootMACAddress                 string             `json:"bootMACAddress,omitempty" rule:"form=mac" doc:"Address of the network card the machine boots from. Once set, it stays."`
	Online                         bool               `json:"online" doc:"Whether the machine is to be powered on."`
	ConsumerRef                    *ObjectReference   `json:"consumerRef,omitempty" doc:"The user of the host. Kept for clients."`
	Image                          *Image             `json:"image,omitempty" doc:"The image for the machine. Changing its URL provisions the machine anew, removing it deprovisions the machine."`
	UserData                       *SecretReference   `json:"userData,omitempty" doc:"Secret with the user data of cloud-init, under the key userData or value."`
	PreprovisioningNetworkDataName string             `json:"preprovisioningNetworkDataName,omitempty" rule:"form=name" doc:"Secret with the network data of the ramdisk."`
	NetworkData                    *SecretReference   `json:"networkData,omitempty" doc:"Secret with the network data of cloud-init, under the key networkData or value."`
	MetaData                       *SecretReference   `json:"metaData,omitempty" doc:"Secret with further meta data of cloud-init, under the key metaData or value."`
	Description                    string             `json:"description,omitempty" doc:"For people."`
	ExternallyProvisioned          bool               `json:"externallyProvisioned,omitempty" doc:"Whether the machine was set up by other means: it is watched and powered, and otherwise let alone."`
	AutomatedCleaningMode          CleaningMode       `json:"automatedCleaningMode,omitempty" rule:"enum=metadata/disabled" doc:"Whether disks' metadata is erased between two uses; metadata when left out."`
	CustomDeploy                   *CustomDeploy      `json:"customDeploy,omitempty" doc:"A deploy step of the site's own ramdisk, in place of an image."`
	Architecture                   string             `json:"architecture,omitempty" doc:"CPU architecture, as x86_64; found by the inspection when left out."`
	DisablePowerOff                bool               `json:"disablePowerOff,omitempty" doc:"Whether the machine is never powered off, only rebooted."`
	InspectionMode                 InspectionMode     `json:"inspectionMode,omitempty" rule:"enum=disabled/agent/fast" doc:"How the machine is inspected: by its agent (when left out), fast by its BMC, or not at all."`
	NetworkInterfaces              []NetworkInterface `json:"networkInterfaces,omitempty" doc:"Switch networks that the machine's cards are to be attached to. Without effect, since this conductor configures no switches; the condition FieldsUsed reports that."`
}

// BMC is how the machine's controller is reached.
type BMC struct {
	Address                        string `json:"address" doc:"URL of the controller, as redfish+https://10.0.0.1/redfish/v1/Systems/1 or ipmi://10.0.0.1."`
	CredentialsName                string `json:"credentialsName" rule:"form=name" doc:"Secret in the host's namespace with username and password."`
	DisableCertificateVerification bool   `json:"disableCertificateVerification,omitempty" doc:"Whether the controller's certificate is not checked."`
}

// BootMode is how the firmware starts; UEFI when left out.
type BootMode string

// Boot modes.
const (
	UEFI           BootMode = "UEFI"
	UEFISecureBoot BootMode = "UEFISecureBoot"
	Legacy         BootMode = "legacy"
)

// CleaningMode is whether disks' metadata goes between two owners.
type CleaningMode string

// Cleaning modes.
const (
	CleaningMetadata CleaningMode = "metadata"
	CleaningDisabled CleaningMode = "disabled"
)

// InspectionMode is how a machine is looked at; by its agent when left out.
type InspectionMode string

// Inspection modes.
const (
	InspectionDisabled InspectionMode = "disabled"
	InspectionAgent    InspectionMode = "agent"
	InspectionFast     InspectionMode = "fast" // by its BMC
)

// Image is an image that is written onto the machine, or booted as LiveISO.
type Image struct {
	URL           string       `json:"url" rule:"required" doc:"Where the image is: http, https, file or oci, or image:NAME for an image of the conductor."`
	Checksum      string       `json:"checksum,omitempty" doc:"Checksum of the image, or a URL of a file with it. Needed but for live-iso, oci and named images."`
	ChecksumType  ChecksumType `json:"checksumType,omitempty" rule:"enum=md5/sha256/sha512/auto" doc:"Algorithm of the checksum; derived from its length when left out."`
	Format        *string      `json:"format,omitempty" rule:"enum=raw/qcow2/vdi/vmdk/live-iso" doc:"Format of the image. A live-iso is booted, not written."`
	OCIAuthSecret *string      `json:"ociAuthSecretName,omitempty" rule:"form=name" doc:"Secret with the login of a container registry."`
}

// LiveISO is the format of images that are booted, not written.
const LiveISO = "live-iso"

// ChecksumType is the algorithm of a checksum; MD5 when left out.
type ChecksumType string

// Checksum types.
const (
	MD5          ChecksumType = "md5"
	SHA256       ChecksumType = "sha256"
	SHA512       ChecksumType = "sha512"
	ChecksumAuto ChecksumType = "auto" // by its length
)

// CustomDeploy is a deploy step of the site's own ramdisk in place of an image.
type CustomDeploy struct {
	Method string `json:"method" rule:"required" doc:"Name of the deploy step."`
}

// RootDeviceHints say onto which disk. All that are given must hold.
type RootDeviceHints struct {
	DeviceName         string `json:"deviceName,omitempty" doc:"Name in /dev or /dev/disk/by-path."`
	HCTL               string `json:"hctl,omitempty" doc:"SCSI address, as 0:0:0:0."`
	Model              string `json:"model,omitempty" doc:"A part of the model."`
	Vendor             string `json:"vendor,omitempty" doc:"A part of the vendor's name."`
	SerialNumber       string `json:"serialNumber,omitempty" doc:"The serial number."`
	MinSizeGigabytes   int    `json:"minSizeGigabytes,omitempty" rule:"min=0" doc:"Least size in gigabytes."`
	WWN                string `json:"wwn,omitempty" doc:"World wide name."`
	WWNWithExtension   string `json:"wwnWithExtension,omitempty" doc:"World wide name with the vendor's extension."`
	WWNVendorExtension string `json:"wwnVendorExtension,omitempty" doc:"The vendor's extension of the world wide name."`
	Rotational         *bool  `json:"rotational,omitempty" doc:"Whether the disk turns."`
}

// RAID is the wanted volumes of a machine, of its controller or of its kernel. A list that is present and empty
// removes all volumes.
type RAID struct {
	HardwareRAIDVolumes []HardwareRAIDVolume `json:"hardwareRAIDVolumes" doc:"Volumes of a RAID controller. An empty list removes all volumes."`
	SoftwareRAIDVolumes []SoftwareRAIDVolume `json:"softwareRAIDVolumes" rule:"maxitems=2" doc:"Volumes of the kernel. An empty list removes all volumes."`
}

// HardwareRAIDVolume is a volume of a RAID controller.
type HardwareRAIDVolume struct {
	SizeGibibytes         *int     `json:"sizeGibibytes,omitempty" rule:"min=0" doc:"Size in GiB; all there is for 0 or when left out."`
	Level                 string   `json:"level" rule:"required,enum=0/1/2/5/6/1+0/5+0/6+0" doc:"RAID level."`
	Name                  string   `json:"name,omitempty" rule:"maxlen=64" doc:"Name of the volume, unique on the host."`
	Rotational            *bool    `json:"rotational,omitempty" doc:"Whether it is made of disks that turn."`
	NumberOfPhysicalDisks *int     `json:"numberOfPhysicalDisks,omitempty" rule:"min=1" doc:"How many disks it is made of."`
	Controller            string   `json:"controller,omitempty" doc:"Name of the RAID controller."`
	PhysicalDisks         []string `json:"physicalDisks,omitempty" doc:"Names of the disks, as the controller calls them."`
}

// SoftwareRAIDVolume is a volume of the kernel's.
type SoftwareRAIDVolume struct {
	RootVolume    bool              `json:"rootVolume,omitempty" doc:"Whether the image is written onto this volume."`
	SizeGibibytes *int              `json:"sizeGibibytes,omitempty" rule:"min=0" doc:"Size in GiB; all there is for 0 or when left out."`
	Level         string            `json:"level" rule:"required,enum=0/1/1+0" doc:"RAID level."`
	PhysicalDisks []RootDeviceHints `json:"physicalDisks,omitempty" rule:"minitems=2" doc:"Hints of the disks it is made of."`
}

// Firmware is three settings of a BIOS. Metal3 itself has given them up since 2026-08 (0.14).
type Firmware struct {
	VirtualizationEnabled             *bool `json:"virtualizationEnabled,omitempty" doc:"Whether the CPU's virtualization is on."`
	SimultaneousMultithreadingEnabled *bool `json:"simultaneousMultithreadingEnabled,omitempty" doc:"Whether cores have several threads."`
	SriovEnabled                      *bool `json:"sriovEnabled,omitempty" doc:"Whether SR-IOV is on."`
}

// Taint is read and kept; it was never acted on by Metal3 either.
type Taint struct {
	Key       string `json:"key" rule:"required" doc:"Its key."`
	Value     string `json:"value,omitempty" doc:"Its value."`
	Effect    string `json:"effect" rule:"required" doc:"Its effect."`
	TimeAdded *Time  `json:"timeAdded,omitempty" doc:"Since when it is there."`
}

// NetworkInterface is the switch a card is attached to.
type NetworkInterface struct {
	Name                  string      `json:"name,omitempty" doc:"Name of the card."`
	MACAddress            string      `json:"macAddress,omitempty" rule:"form=mac" doc:"Address of the card."`
	HostNetworkAttachment Attachment  `json:"hostNetworkAttachment,omitzero" doc:"The network it is attached to."`
	SwitchPort            *SwitchPort `json:"switchPort,omitempty" doc:"The port of the switch."`
}

// Attachment names a HostNetworkAttachment.
type Attachment struct {
	Name      string `json:"name,omitempty" rule:"form=name" doc:"Name of a HostNetworkAttachment."`
	Namespace string `json:"namespace,omitempty" rule:"form=label" doc:"Its namespace."`
}

// SwitchPort is a port of a switch.
type SwitchPort struct {
	SwitchID string `json:"switchID" rule:"required,form=mac" doc:"MAC address of the switch."`
	PortID   string `json:"portID" rule:"required" doc:"Identity of the port."`
}
