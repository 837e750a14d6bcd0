package redfish

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// redfishVersion is the protocol version served (DSP0266).
const redfishVersion = "1.15.0"

// common are the values of many documents, and the constants of this controller.
func (s *Server) common() values {
	spec, p, console := s.machine.Spec(), s.personality, s.personality.makerConsole().types
	gib := float64(spec.MemoryMB) / 1024
	disks := len(spec.Disks)
	return values{
		"redfishVersion": p.RedfishVersion, "vendor": p.Vendor, "product": p.Product,
		"manufacturer": p.Manufacturer, "model": p.Model, "managerModel": p.ManagerModel,
		"name": spec.Name, "serial": spec.Serial, "uuid": spec.UUID,
		// The controller and the enclosure have UUIDs of their own.
		"bmcUUID":     uuid.NewSHA1(uuid.NameSpaceOID, []byte("bmc "+spec.UUID)).String(),
		"chassisUUID": uuid.NewSHA1(uuid.NameSpaceOID, []byte("chassis "+spec.UUID)).String(),
		"cpus":        spec.CPUs, "cpusText": fmt.Sprint(spec.CPUs), "memoryMiB": spec.MemoryMB,
		"memoryGiB": gib, "memoryText": fmt.Sprint(gib), "devices": simpleDevices(spec.Disks),
		"drives": links(numbered(storagePath+"/Drives", disks)...), "resetTypes": qemu.ResetTypes(),
		"raidDrives": links(numbered(raidPath+"/Drives", len(s.config.RAID.DriveGiB))...),
		"raidTypes":  raidTypes(), "applyTimes": s.config.RAID.applyTimes(),
		"user": s.config.Username, "sessionTimeout": int(s.config.SessionTimeout / time.Second),
		"maxEvents": maxEvents, "eventTypes": eventTypes(), "messages": registryMessages(),
		"sshPort": s.config.SSHPort, "consoleTypes": console, "consoles": min(len(console), 1),
		"consoleServed": len(console) > 0,
	}
}

// ownValues are the values of single documents that change with the machine or by requests.
func (s *Server) ownValues() map[string]func() values {
	versions := func() values {
		return values{"biosVersion": s.firmwareVersion(biosFirmware), "bmcVersion": s.firmwareVersion(bmcFirmware)}
	}
	manager := func() values {
		return values{"bmcVersion": s.firmwareVersion(bmcFirmware), "lastReset": s.resetTime()}
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
	}
}

// resetTime is when the controller was reset last.
func (s *Server) resetTime() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastReset.UTC().Format(time.RFC3339Nano)
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }
