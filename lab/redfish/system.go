package redfish

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// computerSystem is ComputerSystem.v1_20_0.
type computerSystem struct {
	common
	SystemType   string
	Manufacturer string
	Model        string
	SerialNumber string
	UUID         string
	BiosVersion  string
	PowerState   qemu.Power
	Status       status
	indicatorBody
	Boot               bootBody
	ProcessorSummary   processorSummary
	MemorySummary      memorySummary
	Processors         link
	Memory             link
	EthernetInterfaces link
	Storage            link
	SimpleStorage      link
	Bios               link
	SecureBoot         link
	SerialConsole      *hostConsole `json:",omitempty"`
	Links              systemLinks
	Actions            systemActions
}

// bootBody is ComputerSystem.Boot.
type bootBody struct {
	Enabled      qemu.Enabled   `json:"BootSourceOverrideEnabled"`
	EnabledOneOf []qemu.Enabled `json:"BootSourceOverrideEnabled@Redfish.AllowableValues"`
	Mode         bootMode       `json:"BootSourceOverrideMode,omitempty"`
	ModeOneOf    []bootMode     `json:"BootSourceOverrideMode@Redfish.AllowableValues,omitempty"`
	Target       qemu.Target    `json:"BootSourceOverrideTarget"`
	TargetOneOf  []qemu.Target  `json:"BootSourceOverrideTarget@Redfish.AllowableValues"`
}

// bootMode is BootSourceOverrideMode.
type bootMode string

const (
	modeUEFI   bootMode = "UEFI"
	modeLegacy bootMode = "Legacy"
)

// modeOf is Redfish's word for a firmware.
func modeOf(f qemu.Firmware) bootMode {
	if f == qemu.BIOS {
		return modeLegacy
	}
	return modeUEFI
}

// The values a client may choose from; HTTP boot is UEFI's alone.
func allowedTargets(f qemu.Firmware) []qemu.Target {
	targets := []qemu.Target{qemu.TargetNone, qemu.TargetPxe, qemu.TargetHdd, qemu.TargetCd}
	if f == qemu.UEFI {
		targets = append(targets, qemu.TargetUefiHTTP)
	}
	return targets
}

func allowedEnabled() []qemu.Enabled {
	return []qemu.Enabled{qemu.Disabled, qemu.Once, qemu.Continuous}
}

func allowedModes() []bootMode { return []bootMode{modeUEFI, modeLegacy} }

type processorSummary struct {
	Count                 int
	LogicalProcessorCount int
	Model                 string
	Status                rollup
}

type memorySummary struct {
	TotalSystemMemoryGiB float64
	Status               rollup
}

// rollup is a status that sums up the parts.
type rollup struct {
	State        string
	Health       string
	HealthRollup string
}

func enabledRollup() rollup { return rollup{"Enabled", "OK", "OK"} }

type systemLinks struct {
	Chassis   []link
	ManagedBy []link
}

type systemActions struct {
	Reset resetBody `json:"#ComputerSystem.Reset"`
}

type resetBody struct {
	Target string           `json:"target"`
	OneOf  []qemu.ResetType `json:"ResetType@Redfish.AllowableValues"`
}

func (s *Server) bootBody() bootBody {
	boot := s.machine.Boot()
	body := bootBody{
		Enabled: boot.Enabled, EnabledOneOf: s.allowedEnabled(),
		Mode: modeOf(boot.Firmware), ModeOneOf: allowedModes(),
		Target: s.shownTarget(boot), TargetOneOf: s.allowedTargets(boot.Firmware),
	}
	if s.personality.has(ModeMissing) {
		body.Mode, body.ModeOneOf = "", nil
	}
	return body
}

func (s *Server) getSystem(*http.Request) (reply, error) {
	spec, power := s.machine.Spec(), s.machine.Power()
	state := enabled()
	s.mu.Lock()
	state.Health = s.health
	s.mu.Unlock()
	if power == qemu.Off {
		state.State = "StandbyOffline"
	}
	return ok(computerSystem{
		common:       head(systemPath, "ComputerSystem.v1_20_0.ComputerSystem", spec.Name),
		SystemType:   "Physical",
		Manufacturer: s.personality.Manufacturer,
		Model:        s.personality.Model,
		SerialNumber: spec.Serial,
		UUID:         spec.UUID,
		BiosVersion:  s.firmwareVersion(biosFirmware),
		PowerState:   s.shownPower(),
		Status:       state,

		indicatorBody:      s.indicators.at(systemPath),
		Boot:               s.bootBody(),
		ProcessorSummary:   processorSummary{1, spec.CPUs, processorModel, enabledRollup()},
		MemorySummary:      memorySummary{float64(spec.MemoryMB) / 1024, enabledRollup()},
		Processors:         link{systemPath + "/Processors"},
		Memory:             link{systemPath + "/Memory"},
		EthernetInterfaces: link{systemPath + "/EthernetInterfaces"},
		Storage:            link{systemPath + "/Storage"},
		SimpleStorage:      link{systemPath + "/SimpleStorage"},
		Bios:               link{biosPath},
		SecureBoot:         link{secureBootPath},
		SerialConsole:      s.hostConsole(),
		Links:              systemLinks{Chassis: links(chassisPath), ManagedBy: links(managerPath)},
		Actions:            systemActions{resetBody{systemPath + resetAction, qemu.ResetTypes()}},
	})
}
