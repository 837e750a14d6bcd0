package redfish

import (
	"maps"
	"slices"
)

// State holds the controller's settings that clients can change. Tests compare it before and after.
type State struct {
	BIOS, PendingBIOS map[string]any
	BIOSReset         bool // to the defaults, at the next start
	SecureBootMode    string
	SecureBootReset   string // of keys, at the next start; "" for none
	Volumes           []VolumeState
	ForeignVolumes    bool
	BIOSVersion       string
	BMCVersion        string
	Tasks             int // ever begun
}

// VolumeState is a volume of the RAID controller.
type VolumeState struct {
	ID, Name, RAIDType string
	Bytes              int64
	Drives             []string // paths
}

// State is the state now, after the due tasks.
func (s *Server) State() State {
	s.tasks.settle()
	state := State{
		BIOSVersion: s.firmwareVersion(biosFirmware), BMCVersion: s.firmwareVersion(bmcFirmware),
		Tasks: s.tasks.begun(),
	}
	state.ForeignVolumes = s.volumes.hasForeign()
	for _, v := range s.volumes.all() {
		state.Volumes = append(state.Volumes, VolumeState{ID: v.id, Name: v.name, RAIDType: string(v.raidType),
			Bytes: v.bytes, Drives: slices.Clone(v.drives)})
	}
	s.bios.mu.Lock()
	defer s.bios.mu.Unlock()
	s.secureBoot.mu.Lock()
	defer s.secureBoot.mu.Unlock()
	state.BIOS, state.PendingBIOS, state.BIOSReset = maps.Clone(s.bios.values), maps.Clone(s.bios.pending), s.bios.defaults
	state.SecureBootMode, state.SecureBootReset = s.secureBoot.mode, s.secureBoot.reset
	return state
}
