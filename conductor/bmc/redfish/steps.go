package redfish

import "github.com/ferrite-metal/ferrite/conductor/node"

// steps lists the driver's steps, with Ironic's names, arguments, priorities and frameworks. Only reset_bmc is ours:
// Ironic has it for iDRAC only, as reset_idrac. The priority of verify_bmc_clock is an option of the driver.
func steps() []step {
	const clean, deploy, service, verify = node.CleanSteps, node.DeploySteps, node.ServiceSteps, node.VerifySteps
	return []step{
		offer("bios", "factory_reset", resetBIOS, nil, clean, deploy, service),
		offer("bios", "apply_configuration", applyBIOS, args{
			"settings": {Description: "A list of BIOS settings to be applied: objects of name and value", Required: true},
		}, clean, deploy, service),
		onRamdisk(offer("raid", "create_configuration", createRAID, raidArgs(nil), clean)),
		onRamdisk(offer("raid", "apply_configuration", applyRAID, raidArgs(args{
			"raid_config": {Description: "The RAID configuration to apply, with a list logical_disks", Required: true},
		}), deploy, service)),
		onRamdisk(offer("raid", "delete_configuration", deleteRAID, nil, clean, deploy, service)),
		offer("firmware", "update", updateFirmware, args{
			"settings": {
				Description: "A list of firmware to be updated, in this order: objects of component (bios, bmc or nic:ID), url " +
					"and, optionally, wait in seconds", Required: true,
			},
		}, clean, deploy, service),
		offer("management", "reset_secure_boot_keys_to_default", defaultSecureBootKeys, nil, clean, deploy),
		offer("management", "clear_secure_boot_keys", clearSecureBootKeys, nil, clean, deploy),
		offer("management", "clear_job_queue", clearJobQueue, nil, verify, clean),
		offer("management", "reset_bmc", resetBMC, nil, verify, clean),
		ofDell(offer("management", "reset_idrac", resetBMC, nil, verify, clean)),
		ofDell(offer("management", "known_good_state", knownGoodState, nil, verify, clean)),
		offer("management", "set_bmc_clock", setClock, args{
			"target_datetime": {Description: "The time to set, in ISO 8601 with an offset from UTC; this conductor's own if " +
				"left out"},
			"datetime_local_offset": {Description: "The BMC's own offset from UTC, such as +02:00; left alone if left out"},
		}, clean),
		offer("management", "verify_bmc_clock", verifyClock, nil, verify),
	}
}

type args map[string]node.StepArg

// offer is a row of the table. All are done only when asked for, and none may
// be aborted half-way: Ironic has it so too.
func offer(kind, name string, do func(*stepCall) (node.StepReport, error), a args, frameworks ...node.Framework) step {
	s := step{do: do, offer: node.StepOffer{
		Interface: kind, Step: name, Args: a, NeedsNoRamdisk: true, Priority: map[node.Framework]int{},
	}}
	for _, f := range frameworks {
		s.offer.Priority[f] = 0
	}
	return s
}

// onRamdisk is for steps that change the disks below a running system.
func onRamdisk(s step) step {
	s.offer.NeedsNoRamdisk = false
	return s
}

// ofDell is for steps that Ironic has for iDRAC only.
func ofDell(s step) step {
	s.driver = "idrac"
	return s
}

// raidArgs adds the common arguments of the steps that make volumes.
func raidArgs(more args) args {
	all := args{
		"create_root_volume":     {Description: "Whether to create the root volume of the configuration; true if left out"},
		"create_nonroot_volumes": {Description: "Whether to create the other volumes; true if left out"},
		"delete_existing": {
			Description: "Whether to delete the volumes that are there and not in the configuration first; false if left out",
		},
	}
	for name, arg := range more {
		all[name] = arg
	}
	return all
}
