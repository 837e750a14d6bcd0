package redfish

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

const storagePath = systemPath + "/Storage/1"

// storage is Storage.v1_13_0: a controller and its drives and volumes.
type storage struct {
	common
	Status             status
	StorageControllers []storageController
	Drives             []link
	Volumes            link
}

type storageController struct {
	ODataID   string `json:"@odata.id"`
	MemberID  string `json:"MemberId"`
	Name      string
	RAIDTypes []raidType `json:"SupportedRAIDTypes"`
	Status    status
}

// getStorages lists the controllers: the disks' own, and the RAID controller
// where there is one.
func (s *Server) getStorages(r *http.Request) (reply, error) {
	members := []string{storagePath}
	if len(s.config.RAID.DriveGiB) > 0 {
		members = append(members, raidPath)
	}
	return collection("Storage", "Storage", members...)(r)
}

func (s *Server) getStorage(*http.Request) (reply, error) {
	return ok(storage{
		common: head(storagePath, "Storage.v1_13_0.Storage", "Storage"),
		Status: enabled(),
		StorageControllers: []storageController{
			{ODataID: storagePath + "#/StorageControllers/0", MemberID: "0", Name: "Controller", RAIDTypes: []raidType{},
				Status: enabled()},
		},
		Drives:  links(numbered(storagePath+"/Drives", len(s.machine.Spec().Disks))...),
		Volumes: link{storagePath + "/Volumes"},
	})
}

// drive is Drive.v1_16_0.
type drive struct {
	common
	Manufacturer   string
	Model          string
	SerialNumber   string
	CapacityBytes  int64
	BlockSizeBytes int
	MediaType      string
	Protocol       string `json:",omitempty"`
	Status         status
	*indicatorBody // nil for a drive without a light
}

func (s *Server) getDrive(r *http.Request) (reply, error) {
	disks := s.machine.Spec().Disks
	i, err := member(r, len(disks))
	if err != nil {
		return reply{}, err
	}
	d := disks[i]
	light := s.indicators.at(r.URL.Path)
	return ok(drive{
		common:       head(r.URL.Path, "Drive.v1_16_0.Drive", "Drive"),
		Manufacturer: "QEMU", Model: driveModel(d), SerialNumber: d.Serial,
		CapacityBytes: d.SizeMB << 20, BlockSizeBytes: d.LogicalSectorSize,
		MediaType: "SSD", Protocol: protocols[d.Bus], Status: enabled(), indicatorBody: &light,
	})
}

// protocols are Redfish's words for a bus; it has none for virtio.
var protocols = map[qemu.Bus]string{qemu.BusNVMe: "NVMe", qemu.BusSATA: "SATA", qemu.BusSCSI: "SAS",
	qemu.BusMegaSAS: "SAS", qemu.BusUSB: "USB"}

func driveModel(d qemu.Disk) string { return "QEMU " + string(d.Bus) + " disk" }

// simpleStorage is SimpleStorage.v1_3_1, for older clients.
type simpleStorage struct {
	common
	Status  status
	Devices []simpleDevice
}

type simpleDevice struct {
	Name          string
	Manufacturer  string
	Model         string
	CapacityBytes int64
	Status        status
}

func (s *Server) getSimpleStorage(*http.Request) (reply, error) {
	devices := []simpleDevice{}
	for _, d := range s.machine.Spec().Disks {
		devices = append(devices, simpleDevice{
			Name: d.Serial, Manufacturer: "QEMU", Model: driveModel(d),
			CapacityBytes: d.SizeMB << 20, Status: enabled(),
		})
	}
	return ok(simpleStorage{
		common: head(systemPath+"/SimpleStorage/1", "SimpleStorage.v1_3_1.SimpleStorage", "Simple Storage"),
		Status: enabled(), Devices: devices,
	})
}
