package host

import (
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// noRootDisk is the reason why an image would find no disk on an available machine, in the words of the deploy that
// would fail. It is "" where there is a disk, and where the hardware is not known. It blocks nothing: the machine may
// get a disk meanwhile.
func (d *decision) noRootDisk() string {
	hw, hints := d.h.Status.Hardware, d.source().HintsWanted()
	switch {
	case d.state().Canonical() != hostapi.StateAvailable, hw == nil || len(hw.Storage) == 0:
		return ""
	case hints == nil || d.h.Spec.RAID != nil && len(d.h.Spec.RAID.HardwareRAIDVolumes) > 0: // made after the inspection
		return ""
	case translate.LiveISO(d.h.Spec.Image):
		return ""
	}
	var properties map[string]any
	if d.facts.Node != nil {
		properties = d.facts.Node.Properties
	}
	wish, err := rootdevice.WishOf(translate.RootDevice(hints), nil, properties)
	if err == nil {
		_, _, err = rootdevice.Choose(disks(*hw), nil, wish)
	}
	switch {
	case err == nil:
		return ""
	case d.h.Spec.RootDeviceHints == nil:
		return fmt.Sprintf("without spec.rootDeviceHints, of hardware profile %q: %v", d.h.Status.HardwareProfile, err)
	}
	return "spec.rootDeviceHints: " + err.Error()
}

// disks are a document's disks in the form of an inspection, as far as the document describes them.
func disks(hw hostapi.Hardware) (all []agentapi.Disk) {
	for _, s := range hw.Storage {
		d := agentapi.Disk{
			Name: s.Name, Rotational: s.Rotational, Size: s.SizeBytes, Vendor: s.Vendor, Model: s.Model, Serial: s.SerialNumber,
			WWN: s.WWN, WWNVendorExtension: s.WWNVendorExtension, WWNWithExtension: s.WWNWithExtension, HCTL: s.HCTL,
		}
		for _, name := range append([]string{s.Name}, s.AlternateNames...) {
			if strings.HasPrefix(name, "/dev/disk/by-path/") {
				d.ByPath = name
			} else {
				d.Name = name
			}
		}
		all = append(all, d)
	}
	return all
}
