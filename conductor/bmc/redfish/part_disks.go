package redfish

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// driveDoc is Drive, and HpeSmartStorageDiskDrive, with its size in CapacityMiB or CapacityGB.
type driveDoc struct {
	ID                                     string `json:"Id"`
	Name, Model, Manufacturer              string
	SerialNumber, MediaType, Protocol      string
	Revision                               string
	InterfaceType                          string // of HPE
	CapacityBytes, CapacityMiB, CapacityGB int64
	Identifiers                            identifiers
	Status                                 resourceStatus
}

// bytes is the size: a GB of HPE's is a decimal one.
func (d driveDoc) bytes() int64 {
	return cmp.Or(d.CapacityBytes, d.CapacityMiB<<20, d.CapacityGB*1_000_000_000)
}

// storageDoc is Storage. Its controllers are in the document; newer BMCs have them in a collection, too.
type storageDoc struct {
	ID                 string `json:"Id"`
	Name               string
	StorageControllers []controllerDoc
	Drives             []reference
	Volumes            reference
}

// readDisks reads the drives of the system's storage. Where there are none, it reads the drives of SimpleStorage, of
// HPE's SmartStorage, or of its chassis.
func (p *parts) readDisks() error {
	for _, source := range []func() error{p.fromStorage, p.fromSimpleStorage, p.fromSmartStorage, p.fromChassis} {
		if err := source(); err != nil {
			return err
		}
		if len(p.out.Disks) > 0 {
			break
		}
	}
	return nil
}

func (p *parts) fromStorage() error {
	controllers, err := p.members(p.links.Storage.Path)
	if err != nil {
		p.missed("storage", err)
		return nil
	}
	var drives, volumes []string
	owners := map[string]int{} // of drives, in out.Controllers
	err = each(p, "storage", controllers, func(at string, s storageDoc) {
		drives = append(drives, paths(s.Drives)...)
		p.takeController(at, s, owners)
		if of, err := p.members(s.Volumes.Path); err == nil {
			volumes = append(volumes, of...)
		}
	})
	if err != nil {
		return err
	}
	slices.Sort(drives) // two controllers may show the same one
	take := func(at string, d driveDoc) {
		p.takeDrive(at, d)
		p.takeControllerDrive(at, d, owners)
	}
	if err := each(p, "drives", slices.Compact(drives), take); err != nil {
		return err
	}
	return each(p, "volumes", volumes, p.takeVolume)
}

// takeDrive takes a drive that is there: slots without one are listed too.
func (p *parts) takeDrive(at string, d driveDoc) {
	if d.Status.absent() || d.bytes() <= 0 || strings.HasPrefix(d.Model, "Virtual ") { // AMI lists its media
		return
	}
	name := cmp.Or(tidy(d.Name), tidy(d.ID), path.Base(at))
	has := func(s string) bool {
		return slices.ContainsFunc(p.out.Disks, func(d node.Disk) bool { return d.Name == s })
	}
	p.out.Disks = append(p.out.Disks, node.Disk{
		Name: unique(name, has), Model: tidy(d.Model), Vendor: tidy(d.Manufacturer), Serial: tidy(d.SerialNumber),
		Bytes: d.bytes(), Rotational: d.MediaType == "HDD", Transport: transportOf(cmp.Or(d.Protocol, d.InterfaceType)),
		WWN: d.Identifiers.wwn(), Health: label(d.Status.Health),
	})
}

// transportOf is the kernel's word for a drive's protocol; Dell's NVMe drives are on PCIe.
func transportOf(protocol string) string {
	word := strings.ToLower(tidy(protocol))
	switch {
	case word == "pcie", strings.HasPrefix(word, "nvme"):
		return "nvme"
	case word == "sata", word == "sas", word == "usb":
		return word
	}
	return ""
}

// identifiers are the names of a drive that last (DSP0268, Identifier).
type identifiers []struct{ DurableName, DurableNameFormat string }

// wwn is the name that the kernel shows: a NAA with 0x, or an EUI.
func (all identifiers) wwn() string {
	for _, i := range all {
		name := strings.ToLower(strings.TrimPrefix(tidy(i.DurableName), "0x"))
		switch {
		case name == "":
		case i.DurableNameFormat == "NAA":
			return "0x" + name
		case i.DurableNameFormat == "EUI":
			return "eui." + strings.ReplaceAll(strings.TrimPrefix(name, "eui."), ":", "")
		}
	}
	return ""
}

// volumeDoc is Volume.
type volumeDoc struct {
	ID, Name, RAIDType string
	CapacityBytes      int64
	VolumeType         string
	Links              struct{ Drives []reference }
	Status             resourceStatus
}

// takeVolume takes the volume of a controller; Dell shows a drive of its own as a volume too, which is left out.
func (p *parts) takeVolume(at string, v volumeDoc) {
	if v.Status.absent() || v.CapacityBytes <= 0 || v.VolumeType == "RawDevice" {
		return
	}
	p.out.Volumes = append(p.out.Volumes,
		node.Volume{Name: cmp.Or(tidy(v.Name), path.Base(at)), RAIDType: label(v.RAIDType),
			Bytes: v.CapacityBytes, Drives: len(v.Links.Drives)})
}

func (p *parts) fromSimpleStorage() error {
	all, err := p.members(p.links.SimpleStorage.Path)
	if err != nil {
		p.missed("simple storage", err)
		return nil
	}
	return each(p, "simple storage", all, func(at string, s struct{ Devices []driveDoc }) {
		for _, d := range s.Devices[:min(len(s.Devices), maxParts)] {
			p.takeDrive(at, d)
		}
	})
}

// fromSmartStorage reads the array controllers of HPE's Gen8 to Gen10 (iLO 4 and 5). The standard's Storage lacks their
// drives.
func (p *parts) fromSmartStorage() error {
	type linked struct {
		Links struct{ ArrayControllers, PhysicalDrives reference }
	}
	path := p.links.Oem.Hpe.Links.SmartStorage.Path
	if path == "" {
		return nil
	}
	var top linked
	if _, err := p.get(path, &top); err != nil {
		p.missed("smart storage", err)
		return nil
	}
	controllers, err := p.members(top.Links.ArrayControllers.Path)
	if err != nil {
		p.missed("array controllers", err)
		return nil
	}
	var drives []string
	err = each(p, "array controllers", controllers, func(_ string, c linked) {
		if of, err := p.members(c.Links.PhysicalDrives.Path); err == nil {
			drives = append(drives, of...)
		}
	})
	if err != nil {
		return err
	}
	return each(p, "drives", drives, p.takeDrive)
}

func (p *parts) fromChassis() error {
	for _, chassis := range paths(p.links.Links.Chassis) {
		var c struct{ Drives reference }
		if _, err := p.get(chassis, &c); err != nil {
			p.missed("chassis", err)
			continue
		}
		drives, err := p.members(c.Drives.Path)
		if err != nil {
			p.missed("drives of a chassis", err)
			continue
		}
		if err := each(p, "drives", drives, p.takeDrive); err != nil {
			return err
		}
	}
	return nil
}
