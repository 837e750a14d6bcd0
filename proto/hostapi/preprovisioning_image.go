package hostapi

import (
	"fmt"
	"slices"
)

// PreprovisioningImage requests the ramdisk that machines of one architecture are inspected and installed with.
type PreprovisioningImage struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec   PreprovisioningImageSpec   `json:"spec,omitzero" doc:"The wanted ramdisk."`
	Status PreprovisioningImageStatus `json:"status,omitzero" doc:"The ramdisk there is, written by the conductor."`
}

// PreprovisioningImageSpec is the wanted ramdisk.
type PreprovisioningImageSpec struct {
	NetworkDataName string        `json:"networkDataName,omitempty" rule:"form=name" doc:"Secret of the same namespace with the network data of the ramdisk."`
	Architecture    string        `json:"architecture,omitempty" doc:"CPU architecture, as x86_64; any when left out."`
	AcceptFormats   []ImageFormat `json:"acceptFormats,omitempty" doc:"Acceptable formats, iso and initrd, the preferred one first."`
}

// ImageFormat is the format of a ramdisk.
type ImageFormat string

// Formats of ramdisks.
const (
	FormatISO    ImageFormat = "iso"
	FormatInitrd ImageFormat = "initrd"
)

// PreprovisioningImageStatus is the ramdisk there is.
type PreprovisioningImageStatus struct {
	ImageURL          string       `json:"imageUrl,omitempty" doc:"Where the ramdisk is fetched."`
	KernelURL         string       `json:"kernelUrl,omitempty" doc:"Where its kernel is fetched; of an initrd."`
	ExtraKernelParams string       `json:"extraKernelParams,omitempty" doc:"Further kernel parameters; of an initrd."`
	Format            ImageFormat  `json:"format,omitempty" rule:"enum=iso/initrd" doc:"Its format."`
	NetworkData       SecretStatus `json:"networkData,omitzero" doc:"The Secret with the network data, as it was read."`
	Architecture      string       `json:"architecture,omitempty" doc:"Its CPU architecture."`
	Conditions        []Condition  `json:"conditions,omitempty" doc:"Whether the ramdisk can be fetched (Ready), and the reason if there is none (Error)."`
}

// SecretStatus is a Secret as it was read.
type SecretStatus struct {
	Name    string `json:"name,omitempty" doc:"Its name."`
	Version string `json:"version,omitempty" doc:"Its resource version."`
}

// ConditionError is the type of a condition of a PreprovisioningImage, beside Ready.
const ConditionError = "Error"

func checkPreprovisioningImage(p *PreprovisioningImage, add report) {
	for i, f := range p.Spec.AcceptFormats {
		if !slices.Contains([]ImageFormat{FormatISO, FormatInitrd}, f) {
			add(Problem{Path: fmt.Sprintf("spec.acceptFormats[%d]", i), Value: string(f), Reason: "expected one of iso, initrd",
				Choices: []string{string(FormatISO), string(FormatInitrd)}})
		}
	}
}
