package serve

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// settings are the flags that decisions depend on.
func (c Config) settings() plan.Settings {
	return plan.Settings{
		ConductorName: c.Host, DefaultInterfaces: c.DefaultInterfaces, AutomatedClean: c.AutomatedClean,
		EraseDevicesPriority: c.ErasePriority, EraseMetadataPriority: c.MetadataPriority,
		Erasing: plan.Erasing{
			ContinueIfSecureEraseFailed: c.EraseContinue, NVMe: c.EraseNVMe, ATA: c.EraseATA, SkipReadOnly: c.EraseSkipReadOnly,
			Iterations: c.EraseIterations, Zeroize: c.EraseZeroize, Concurrency: c.EraseConcurrency,
		},
		CollectLogs: c.CollectLogs == "on_failure",
		FastTrack:   c.FastTrack, FastTrackAny: c.FastTrackAgents == "any", FastTrackTimeout: c.HeartbeatTimeout,
		FastTrackIdle: c.FastTrackIdle, Kexec: c.Kexec == "auto", RamdiskPowerOff: c.RamdiskPowerOff,
		DeployTimeout: c.DeployTimeout, CleanTimeout: c.CleanTimeout, InspectTimeout: c.InspectTimeout,
		RescueTimeout: c.RescueTimeout, ServiceTimeout: c.ServiceTimeout, PowerTimeout: c.PowerTimeout, BMC: c.patience(),
		BootRetries: c.BootRetries, BootRetryAfter: c.BootRetryAfter, BootMedia: c.Boot,
		PersonTimeout: c.PersonTimeout,
		StepTimeout:   c.StepTimeout, StepLimit: c.StepLimit,
		SoftPowerOffTimeout: c.SoftPowerOffTimeout, SyncPowerInterval: c.SyncInterval, SensorInterval: c.SensorInterval,
		PowerSyncRetries:      c.SyncRetries,
		PowerRecoveryInterval: c.RecoveryInterval, ForcePowerState: c.ForcePowerState,
		MaxConcurrentDeploy: c.MaxConcurrentDeploy, MaxConcurrentClean: c.MaxConcurrentClean,
		BIOSBootloader: c.BIOSBootloader, RequireImageCheck: c.CheckImage == "require",
	}
}

// patience is how long BMCs are waited for, as the flags say.
func (c Config) patience() node.Patience {
	return node.Patience{Connect: c.BMCConnect, Request: c.BMCRequest, Call: c.BMCCall, Verify: c.BMCVerify,
		Power: c.PowerTimeout, BootMode: c.BootModeTimeout}
}
