package lab

import (
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/lab/network"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/google/uuid"
)

// Config describes a lab.
type Config struct {
	// ID names the lab and everything of it on this host: 1 to 32 of a-z, 0-9
	// and -. Empty takes a random one.
	ID string
	// Dir holds the lab's files. It is made when it is missing. Close removes the lab's files from it, except the logs.
	Dir string
	// ImagesDir is the folder the image server serves; empty is Dir/images.
	ImagesDir string
	Machines  []MachineConfig
	// OnLine sees every line of every machine's console; it may be nil.
	OnLine func(machine string, line qemu.Line)
	Log    *slog.Logger
}

// MachineConfig is one machine. Of Spec only Name must be filled in: paths, taps, MAC addresses and the defaults of
// qemu.Spec follow from it.
type MachineConfig struct {
	qemu.Spec
	// Username and Password open its controller; empty is "admin" and a
	// password of the machine's own.
	Username string
	Password string
	// Personality is the controller's; the zero value is the ideal one.
	Personality redfish.Personality
}

// Ports inside the namespace. They keep clear of the conductor's: 67, 69,
// 4011, 6385, 8088 and 9999.
const (
	firstSSHPort  = 2201
	firstBMCPort  = 7001
	imagesPort    = 7080
	phoneHomePort = 7081
	maxMachines   = imagesPort - firstBMCPort
)

// Folders inside Dir. Logs and consoles stay when the lab is gone.
const (
	disksDir   = "disks"
	runDir     = "run"
	consoleDir = "console"
	logsDir    = "logs"
	imagesDir  = "images"
)

// complete fills in the fields that follow from the lab's id and folder.
func (c Config) complete() (Config, error) {
	if c.ID == "" {
		c.ID = uuid.NewString()[:8]
	}
	if _, err := network.NewPlan(c.ID); err != nil {
		return c, err
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return c, fmt.Errorf("lab folder: %w", err)
	}
	c.Dir = dir
	if c.ImagesDir == "" {
		c.ImagesDir = filepath.Join(dir, imagesDir)
	}
	if len(c.Machines) > maxMachines {
		return c, fmt.Errorf("%d machines: expected at most %d", len(c.Machines), maxMachines)
	}
	machines := make([]MachineConfig, len(c.Machines))
	seen := map[string]bool{}
	tap := 0
	for i, m := range c.Machines {
		if seen[m.Name] {
			return c, fmt.Errorf("two machines are called %q", m.Name)
		}
		seen[m.Name] = true
		machines[i] = m.complete(c, i, &tap)
	}
	c.Machines = machines
	return c, nil
}

// complete gives machine number i its files and its next taps.
func (m MachineConfig) complete(c Config, i int, tap *int) MachineConfig {
	if m.Username == "" {
		m.Username = "admin"
	}
	if m.Password == "" {
		m.Password = m.Name + "-password"
	}
	unique := uuid.NewSHA1(uuid.NameSpaceOID, []byte(c.ID+"/"+m.Name))
	if m.UUID == "" {
		m.UUID = unique.String()
	}
	m.Dir = filepath.Join(c.Dir, runDir)
	m.ConsoleLog = filepath.Join(c.Dir, consoleDir, m.Name+".log")
	m.Disks = append([]qemu.Disk(nil), m.Disks...)
	for d := range m.Disks {
		format := m.Disks[d].Format
		if format == "" {
			format = "raw"
		}
		m.Disks[d].Path = filepath.Join(c.Dir, disksDir, fmt.Sprintf("%s-%d.%s", m.Name, d, format))
	}
	m.NICs = append([]qemu.NIC(nil), m.NICs...)
	for n := range m.NICs {
		if m.NICs[n].MAC == "" {
			// QEMU's own prefix, then the lab and machine, then machine and NIC
			// by number, so that no two in a lab can be the same.
			m.NICs[n].MAC = fmt.Sprintf("52:54:00:%02x:%02x:%02x", unique[0], i, n)
		}
		if wantsTap(m.NICs[n]) {
			m.NICs[n].Tap = network.TapName(*tap)
			*tap++
		}
	}
	return m
}

// wantsTap reports whether a NIC is to be plugged into the lab's bridge.
func wantsTap(n qemu.NIC) bool { return !n.Unplugged && n.Wire == "" }

// taps is how many taps all machines need.
func (c Config) taps() int {
	n := 0
	for _, m := range c.Machines {
		for _, nic := range m.NICs {
			if wantsTap(nic) {
				n++
			}
		}
	}
	return n
}
