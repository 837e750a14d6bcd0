package redfish

import (
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// manager is Manager.v1_17_0.
type manager struct {
	common
	ManagerType     string
	Manufacturer    string
	Model           string
	UUID            string
	FirmwareVersion string
	PowerState      qemu.Power
	Status          status
	LastResetTime   string
	VirtualMedia    link
	LogServices     link
	SerialConsole   *managerConsole `json:",omitempty"`
	NetworkProtocol *link           `json:",omitempty"`
	Links           managerLinks
	Actions         managerActions
}

type managerLinks struct {
	ManagerForServers []link
	ManagerForChassis []link
	Oem               managerOem
}

// managerOem is where Dell's boards link to their own services.
type managerOem struct {
	Dell struct {
		DellJobService link
	}
}

type managerActions struct {
	Reset resetBody `json:"#Manager.Reset"`
}

func (s *Server) getManager(*http.Request) (reply, error) {
	var oem managerOem
	oem.Dell.DellJobService = link{jobServicePath}
	s.mu.Lock()
	lastReset := s.lastReset
	s.mu.Unlock()
	return ok(manager{
		common:       head(managerPath, "Manager.v1_17_0.Manager", "Manager"),
		ManagerType:  "BMC",
		Manufacturer: s.personality.Manufacturer,
		Model:        s.personality.ManagerModel,
		UUID:         s.controllerUUID(), FirmwareVersion: s.firmwareVersion(bmcFirmware),
		PowerState: qemu.On, Status: enabled(), LastResetTime: lastReset.UTC().Format(time.RFC3339Nano),
		VirtualMedia: link{managerPath + "/VirtualMedia"},
		LogServices:  link{logServicesPath},

		SerialConsole: s.managerConsole(), NetworkProtocol: s.networkProtocolLink(),
		Links:   managerLinks{links(systemPath), links(chassisPath), oem},
		Actions: managerActions{resetBody{managerPath + managerResetAction, managerResets()}},
	})
}

// chassis is Chassis.v1_22_0.
type chassis struct {
	common
	ChassisType  string
	Manufacturer string
	Model        string
	SerialNumber string
	UUID         string
	PowerState   qemu.Power
	Status       status
	indicatorBody
	NetworkAdapters link
	Links           chassisLinks
}

type chassisLinks struct {
	ComputerSystems []link
	ManagedBy       []link
}

func (s *Server) getChassis(*http.Request) (reply, error) {
	return ok(chassis{
		common:       head(chassisPath, "Chassis.v1_22_0.Chassis", "Chassis"),
		ChassisType:  "RackMount",
		Manufacturer: s.personality.Manufacturer,
		Model:        s.personality.Model,
		SerialNumber: s.machine.Spec().Serial,
		UUID:         s.chassisUUID(),
		PowerState:   s.machine.Power(), Status: enabled(),
		indicatorBody:   s.indicators.at(chassisPath),
		NetworkAdapters: link{adaptersPath},
		Links:           chassisLinks{links(systemPath), links(managerPath)},
	})
}
