package redfish

import (
	"fmt"
	"strconv"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

func (s *Server) interfaceItems() (all []item) {
	on := s.machine.Power() == qemu.On
	for i, nic := range s.machine.Spec().NICs {
		link := map[bool]string{true: "LinkUp", false: "LinkDown"}[on && nic.Linked()]
		all = append(all, item{strconv.Itoa(i + 1), values{"mac": nic.MAC, "link": link}})
	}
	return all
}

// adapterItems are the network cards; each has one port.
func (s *Server) adapterItems() (all []item) {
	for i, nic := range s.machine.Spec().NICs {
		all = append(all, item{strconv.Itoa(i + 1), values{"mac": nic.MAC, "cardModel": nic.Model,
			"cardVersion": s.firmwareVersion(nicFirmware)}})
	}
	return all
}

// protocols are Redfish's words for a bus; it has none for virtio.
var protocols = map[qemu.Bus]string{qemu.BusNVMe: "NVMe", qemu.BusSATA: "SATA", qemu.BusSCSI: "SAS",
	qemu.BusMegaSAS: "SAS", qemu.BusUSB: "USB"}

func driveModel(d qemu.Disk) string { return "QEMU " + string(d.Bus) + " disk" }

func (s *Server) driveItems() (all []item) {
	for i, d := range s.machine.Spec().Disks {
		all = append(all, item{strconv.Itoa(i + 1), values{"diskModel": driveModel(d), "diskSerial": d.Serial,
			"bytes": d.SizeMB << 20, "sector": d.LogicalSectorSize, "protocol": protocols[d.Bus]}})
	}
	return all
}

// simpleDevices are the disks in SimpleStorage, for older clients.
func simpleDevices(disks []qemu.Disk) []any {
	devices := []any{}
	for _, d := range disks {
		devices = append(devices, map[string]any{"Name": d.Serial, "Manufacturer": "QEMU", "Model": driveModel(d),
			"CapacityBytes": d.SizeMB << 20, "Status": map[string]string{"State": "Enabled", "Health": "OK"}})
	}
	return devices
}

func (s *Server) raidDriveItems() (all []item) {
	for i, size := range s.config.RAID.DriveGiB {
		id := strconv.Itoa(i + 1)
		all = append(all, item{id, values{"diskSerial": s.machine.Spec().Serial + "-R" + id, "bytes": int64(size) << 30}})
	}
	return all
}

// numbered are the paths of n members below a collection, counted from 1.
func numbered(path string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s/%d", path, i+1)
	}
	return list
}

// link points to another resource.
type link struct {
	ODataID string `json:"@odata.id"`
}

func links(paths ...string) []link {
	list := []link{} // an empty list is [], not null
	for _, p := range paths {
		list = append(list, link{p})
	}
	return list
}
