package redfish

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// redfishVersion is the protocol version served (DSP0266).
const redfishVersion = "1.15.0"

// commonValues are the values of many documents, and the constants of a controller.
var commonValues = map[string]func(s *Server) any{
	"redfishVersion": func(s *Server) any { return s.personality.RedfishVersion },
	"vendor":         func(s *Server) any { return s.personality.Vendor },
	"product":        func(s *Server) any { return s.personality.Product },
	"manufacturer":   func(s *Server) any { return s.personality.Manufacturer },
	"model":          func(s *Server) any { return s.personality.Model },
	"managerModel":   func(s *Server) any { return s.personality.ManagerModel },

	"name":   func(s *Server) any { return s.machine.Spec().Name },
	"serial": func(s *Server) any { return s.machine.Spec().Serial },
	"uuid":   func(s *Server) any { return s.machine.Spec().UUID },
	// The controller and the enclosure have UUIDs of their own.
	"bmcUUID":     func(s *Server) any { return s.partUUID("bmc") },
	"chassisUUID": func(s *Server) any { return s.partUUID("chassis") },

	"cpus":       func(s *Server) any { return s.machine.Spec().CPUs },
	"cpusText":   func(s *Server) any { return fmt.Sprint(s.machine.Spec().CPUs) },
	"memoryMiB":  func(s *Server) any { return s.machine.Spec().MemoryMB },
	"memoryGiB":  func(s *Server) any { return float64(s.machine.Spec().MemoryMB) / 1024 },
	"memoryText": func(s *Server) any { return fmt.Sprint(float64(s.machine.Spec().MemoryMB) / 1024) },
	"drives":     func(s *Server) any { return links(numbered(storagePath+"/Drives", len(s.machine.Spec().Disks))...) },
	"devices":    func(s *Server) any { return simpleDevices(s.machine.Spec().Disks) },
	"resetTypes": func(*Server) any { return qemu.ResetTypes() },
	"raidDrives": func(s *Server) any { return links(numbered(raidPath+"/Drives", len(s.config.RAID.DriveGiB))...) },
	"raidTypes":  func(*Server) any { return raidTypes() },
	"applyTimes": func(s *Server) any { return s.config.RAID.applyTimes() },

	"user":           func(s *Server) any { return s.config.Username },
	"sessionTimeout": func(s *Server) any { return int(s.config.SessionTimeout / time.Second) },
	"maxEvents":      func(*Server) any { return maxEvents },
	"eventTypes":     func(*Server) any { return eventTypes() },
	"registry":       func(*Server) any { return registryMessages() },
	"sshPort":        func(s *Server) any { return s.config.SSHPort },
	"consoleTypes":   func(s *Server) any { return s.personality.makerConsole().types },
	"consoles":       func(s *Server) any { return min(len(s.personality.makerConsole().types), 1) },
	"consoleServed":  func(s *Server) any { return len(s.personality.makerConsole().types) > 0 },
}

// ownValues are the values of single documents that change with the machine or by requests.
func (s *Server) ownValues() map[string]func() values {
	versions := func() values {
		return values{"biosVersion": s.firmwareVersion(biosFirmware), "bmcVersion": s.firmwareVersion(bmcFirmware)}
	}
	manager := func() values {
		clock, zone := s.clock()
		return values{"bmcVersion": s.firmwareVersion(bmcFirmware), "lastReset": s.resetTime(), "bmcTime": clock,
			"bmcOffset": zone}
	}
	return map[string]func() values{
		systemPath:              s.systemValues,
		systemSettingsPath:      s.bootValues,
		chassisPath:             func() values { return values{"chassisPower": s.machine.Power()} },
		managerPath:             manager,
		attributesPath:          s.attributeValues,
		mediaPath:               s.mediaValues,
		biosPath:                s.biosValues,
		biosSettingsPath:        s.biosValues,
		biosRegistryPath:        s.biosValues,
		secureBootPath:          s.secureBootValues,
		tasksPath:               func() values { return values{"now": rfc3339(s.config.Now())} },
		inventoryPath + "/BIOS": versions,
		inventoryPath + "/BMC":  versions,
	}
}

// memberLists are the members of the collections that are not the same always.
func (s *Server) memberLists() map[string]func() []item {
	return map[string]func() []item{
		systemPath + "/EthernetInterfaces": s.interfaceItems,
		adaptersPath:                       s.adapterItems,
		storagePath + "/Drives":            s.driveItems,
		raidPath + "/Drives":               s.raidDriveItems,
		raidPath + "/Volumes":              s.volumes.items,
		logPath + "/Entries":               s.events.items,
		sessionsPath:                       s.sessions.items,
		subscriptionsPath:                  s.subscriptions.items,
		tasksPath + "/Tasks":               s.tasks.items,
		jobsPath:                           s.firmware.jobItems,
	}
}

func (s *Server) partUUID(part string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(part+" "+s.machine.Spec().UUID))
}

// resetTime is when the controller was reset last.
func (s *Server) resetTime() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastReset.UTC().Format(time.RFC3339Nano)
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }
