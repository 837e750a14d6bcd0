package hostapi

import (
	"fmt"
	"strings"
)

// HostFirmwareComponents is the wanted and the observed firmware of the parts of the host of the same name.
type HostFirmwareComponents struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec   HostFirmwareComponentsSpec   `json:"spec,omitzero" doc:"The firmware as it is wanted."`
	Status HostFirmwareComponentsStatus `json:"status,omitzero" doc:"The firmware as it is, written by the conductor."`
}

// HostFirmwareComponentsSpec is the wanted firmware.
type HostFirmwareComponentsSpec struct {
	Updates []FirmwareUpdate `json:"updates" rule:"required" doc:"Images and the parts to flash, in this order. An update is done once."`
}

// FirmwareUpdate is one image for one part.
type FirmwareUpdate struct {
	Component string `json:"component" rule:"required" doc:"The part: bios, bmc, or nic: with the network card's id, as the status has it."`
	URL       string `json:"url" rule:"required" doc:"Where the machine's controller fetches the image."`
}

// HostFirmwareComponentsStatus is the firmware as it is.
type HostFirmwareComponentsStatus struct {
	Updates     []FirmwareUpdate          `json:"updates,omitempty" doc:"The updates that were done, or are under way."`
	Components  []FirmwareComponentStatus `json:"components,omitempty" doc:"The parts that have firmware of their own."`
	LastUpdated *Time                     `json:"lastUpdated,omitempty" doc:"When the status was last written."`
	Conditions  []Condition               `json:"conditions,omitempty" doc:"Whether other updates are wanted (ChangeDetected), and whether they can be done (Valid)."`
}

// FirmwareComponentStatus is one part and its firmware.
type FirmwareComponentStatus struct {
	Component          string `json:"component" doc:"The part: bios, bmc, or nic: with the network card's id."`
	InitialVersion     string `json:"initialVersion" doc:"Its firmware when it was seen first."`
	CurrentVersion     string `json:"currentVersion,omitempty" doc:"Its firmware now."`
	LastVersionFlashed string `json:"lastVersionFlashed,omitempty" doc:"The version it was last seen to change to."`
	UpdatedAt          Time   `json:"updatedAt,omitzero" doc:"When that was."`
}

// CardPrefix begins the name of a part that is a network card.
const CardPrefix = "nic:"

// KnownComponent reports whether documents may name this part.
func KnownComponent(name string) bool {
	card, is := strings.CutPrefix(name, CardPrefix)
	return name == "bios" || name == "bmc" || is && card != ""
}

// checkUpdates refuses URLs that no controller can fetch. It takes the schemes of Metal3; most controllers fetch http
// and https alone, so the reason names these. The names of components are checked in the status, as Metal3 does: only
// the machine knows its components.
func checkUpdates(d *HostFirmwareComponents, add report) {
	for i, update := range d.Spec.Updates {
		if update.URL != "" && !fetchable(update.URL, "http", "https", "ftp", "gopher", "oci") { // the tags report ""
			add(Problem{Path: fmt.Sprintf("spec.updates[%d].url", i), Value: update.URL,
				Reason: "expected a URL of http or https that the machine's controller can reach"})
		}
	}
}
