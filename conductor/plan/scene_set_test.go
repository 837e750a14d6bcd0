package plan

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// set changes the node, the settings or the world.
func (s *scene) set(k, v string) {
	switch k {
	case "boot_retries":
		s.f.Settings.BootRetries, _ = strconv.Atoi(v)
	case "fast_track":
		s.f.Settings.FastTrack, s.f.Settings.FastTrackAny = v == "true", v == "true"
	case "fast_track_own":
		s.f.Settings.FastTrack = v == "true"
	case "disallow":
		steps := strings.Split(v, ",")
		s.f.Settings.Disallowed = map[node.Framework][]string{node.CleanSteps: steps, node.DeploySteps: steps,
			node.ServiceSteps: steps}
	case "kexec":
		s.f.Settings.Kexec = v == "true"
	case "poweroff_in_cleanfail":
		s.f.Settings.PowerOffInCleanFail = v == "true"
	case "poweroff_in_servicefail":
		s.f.Settings.PowerOffInServiceFail = v == "true"
	case "logs_missing":
		s.f.LogsMissing = v == "true"
	case "image_formats":
		s.f.Settings.ImageFormats = strings.Fields(v)
	case "lessee_source":
		s.f.Settings.LesseeSource = v
	case "no_deploy_modes":
		s.f.Settings.NoDeployModes = []string{v}
	case "lessee":
		s.n.Lessee = v
	case "automated_clean":
		s.f.Settings.AutomatedClean = v == "true"
	case "erase_devices":
		s.f.Settings.EraseDevicesPriority = 0
		if v == "true" {
			s.f.Settings.EraseDevicesPriority = 10
		}
	case "boot_media":
		s.f.Settings.BootMedia = v == "true"
	case "neutron":
		s.f.Settings.Neutron = v == "true"
	case "driver_info": // an object
		s.n.DriverInfo = nil
		s.parse(v, &s.n.DriverInfo)
	case "node_network":
		s.f.Settings.NodeNetworks = []string{v}
	case "inspection_network":
		s.f.Settings.InspectionNetwork = v == "true"
	case "deploy_interface", "boot_interface", "inspect_interface", "rescue_interface", "bios_interface",
		"network_interface", "firmware_interface", "management_interface",
		"raid_interface":
		s.n.Interfaces[strings.TrimSuffix(k, "_interface")] = v
	case "trait":
		s.n.Traits = []string{v}
	case "state":
		s.n.ProvisionState = node.State(v)
	case "maintenance":
		s.n.Maintenance = v == "true"
	case "protected":
		s.n.Protected = v == "true"
	case "name_taken":
		s.f.NameTaken = v
	case "crowd": // state and number
		at := strings.LastIndex(v, " ")
		count, err := strconv.Atoi(v[at+1:])
		if err != nil {
			s.t.Fatal(err)
		}
		s.f.Counts = map[string]map[node.State]int{"": {node.State(v[:at]): count}}
	case "owner":
		s.n.Owner = v
	case "crowd_of": // the owner of that crowd, but for one of its nodes
		for state, count := range s.f.Counts[""] {
			s.f.Counts = map[string]map[node.State]int{v: {state: count - 1}, "": {state: 1}}
		}
	case "cleaning": // the settings of runbooks
		s.f.Settings.Cleaning = CleaningRunbooks{ValidateTraits: true}
		s.parse(v, &s.f.Settings.Cleaning)
	case "runbook": // which they name
		s.f.Cleaning = nil
		s.parse(v, &s.f.Cleaning)
	case "clean_priorities":
		s.f.Settings.CleanPriorities = nil
		s.parse(v, &s.f.Settings.CleanPriorities)
	case "verify_priorities":
		s.f.Settings.VerifyPriorities = nil
		s.parse(v, &s.f.Settings.VerifyPriorities)
	case "inspection":
		s.f.Settings.Inspection = Inspection{}
		s.parse(v, &s.f.Settings.Inspection)
	case "ports":
		s.f.Ports = nil
		s.parse(v, &s.f.Ports)
	case "port":
		s.f.Ports = []node.Port{{UUID: "p1", NodeUUID: s.n.UUID, Address: v}}
	case "pxe": // of that port
		s.f.Ports[0].PXEEnabled = v == "true"
	case "vif": // of that port
		s.f.Ports[0].SetVIF(v)
	case "link": // of that port
		s.parse(v, &s.f.Ports[0].LocalLinkConnection)
	case "same_system": // the name of the node that has the machine
		s.f.SameSystem = []node.Node{{UUID: "other", Name: v, ProvisionState: node.Active}}
	case "taken":
		s.f.Taken = map[string]bool{v: true}
	case "leased":
		s.f.Leased, s.f.OwnDHCP = strings.Fields(v), v != ""
	case "retired":
		s.n.Retired = v == "true"
	case "disable_power_off":
		s.n.DisablePowerOff = v == "true"
	case "image_source", "image_checksum", "boot_iso":
		s.n.InstanceInfo[k] = v
	case "instance_info": // an object; its keys are set, or with null taken away
		var info map[string]any
		s.parse(v, &info)
		if s.n.InstanceInfo == nil {
			s.n.InstanceInfo = map[string]any{}
		}
		maps.Copy(s.n.InstanceInfo, info)
		maps.DeleteFunc(s.n.InstanceInfo, func(_ string, v any) bool { return v == nil })
	case "image_mirrors":
		var list any
		s.parse(v, &list)
		s.n.InstanceInfo[k] = list
	case "tells":
		s.f.ReportsHardware = v == "true"
	case "health":
		s.health = v
	case "imported":
		s.n.Import = &node.Import{Source: "http://ironic", FollowPower: v == "true"}
	case "force":
		s.f.Settings.ForcePowerState = v == "true"
	case "recovery":
		var err error
		if s.f.Settings.PowerRecoveryInterval, err = time.ParseDuration(v); err != nil {
			s.t.Fatal(err)
		}
	case "last_error":
		s.n.LastError = v
	case "power_interface":
		s.n.Interfaces["power"] = v
	case "power_state":
		s.n.PowerState = node.PowerState(v)
	case "capabilities":
		s.n.Properties = map[string]any{"capabilities": v}
	default:
		s.t.Fatalf("script: cannot set %q", k)
	}
}
