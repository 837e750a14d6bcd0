package plan

import (
	"encoding/json"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Event is something that happened to a node. The kinds that are not below stand with their
// handlers: PowerRead in power_sync.go, FirmwareRead in firmware_read.go, SensorsRead in
// sensors_read.go, ChildStep in child.go, Abandoned in restored.go, BootDeviceSet in boot_device.go,
// ConsoleKeySeen in console_key.go, RamdiskRefused and ScriptAsked in ramdisk.go, chores in chore.go.
type Event interface {
	// Needs returns the facts that a decision on the event depends on, besides the node and the facts that every
	// decision gets. The engine asks once, and gathers exactly these.
	Needs(n node.Node) Need
	handle(d *decision) error
}

// simple is part of the events that need no further facts.
type simple struct{}

// Needs nothing.
func (simple) Needs(node.Node) Need { return Need{} }

// Forget is the Verb of a Request that stands for the deletion of a node's record. It is no verb of the table.
const Forget node.Event = "forget"

// Request is an operator's verb with its arguments.
type Request struct {
	Verb           node.Event
	ConfigDrive    any // string (base64 of a gzipped ISO, or a URL) or an object with meta_data, user_data, network_data
	CleanSteps     []node.Step
	DeploySteps    []node.Step
	ServiceSteps   []node.Step
	Runbook        *node.Runbook // the runbook with the steps to clean or service the node; nil for none
	RescuePassword string        // in clear, never stored: the engine makes RescueHash of it
	RescueHash     string        // hashed as crypt(3) does
	DisableRamdisk bool
	Project        string           // of the requesting user; only its images are used; "" for the whole system
	Image          *node.ImageFound // the known facts of the image of a deploy; nil if they were not looked up
}

// PowerRequest is an operator's wish for power. Timeout 0 means the default; with
// Once a BMC that does not answer is not asked again. With Overtake the machine is
// switched off at once even while its operating system is still shutting down.
type PowerRequest struct {
	simple
	Target   node.PowerState
	Timeout  time.Duration
	Once     bool
	Overtake bool
	User     string // the requesting user; "" where the API has no users
}

// Outcome is the end of an effect. Result is the effect's own JSON. Failure is the reason of a failure in one sentence,
// "" after success.
type Outcome struct {
	Effect  node.Effect
	Result  json.RawMessage
	Failure string
}

// AgentCalled is a heartbeat with the right token.
type AgentCalled struct{ Heartbeat agentapi.Heartbeat }

// Inspected is the data an inspecting ramdisk has sent; Raw is all of it.
type Inspected struct {
	Data agentapi.Inspection
	Raw  json.RawMessage
}

// Expired says that the node's deadline has passed.
type Expired struct{}

// Restarted is the restart of the conductor: its memory, such as the latest heartbeats, is gone.
type Restarted struct{}

// Need is facts that not every decision gets. The zero value needs nothing.
type Need struct {
	// Addresses are the MAC addresses, as ports have them, that the event may make ports of, for
	// Facts.Taken: the network card of a BMC has the same address in every machine
	// of some vendors.
	Addresses []string
	// Templates are the names of the deploy templates of the instance's traits, for Facts.Templates.
	Templates []string

	Rules          bool // Facts.Rules: the event may bring an inspection's findings
	LastWords      bool // Facts.LastWords: an error may quote the machine's log
	HardwareReport bool // Facts.HardwareReport
	Counts         bool // Facts.Counts: a limit on nodes in some states holds
	Inventory      bool // Facts.Inventory: the end of an unreported erase, or a deploy of an image of known size
	Bonds          bool // Facts.Bonds: the event may be the end of a tear-down, which detaches VIFs
	// System is the UUID of the node's machine, for Facts.SameSystem: as its BMC reports it, or as its ramdisk reads it
	// from SMBIOS. Only this UUID shows that two addresses of one BMC, or its Redfish and its IPMI, are one machine.
	System string
	Leased bool // Facts.Leased: an agent says for the first time where it can be called
	// Cleaning: Facts.Cleaning, with HardwareReport: an automated cleaning may begin
	Cleaning bool
}

// Facts are the facts that Decide may use besides the node, gathered by the engine.
type Facts struct {
	Ports     []node.Port
	Bonds     []node.Portgroup      // if Needs asks for it
	Offers    []node.StepOffer      // steps of the BMC driver
	Templates []node.DeployTemplate // the templates that the instance's traits name
	Cleaning  *node.Runbook         // the runbook that CleaningRunbook names, nil for none; if Needs asks for it
	Rules     []node.InspectionRule // operators' rules for the findings; if Needs asks for it
	NameTaken string                // a name that rules would give the node, though another has it
	// MachineTaken is the machine that rules would give the node, though another node holds it; nil for none
	MachineTaken *node.MachineTakenError
	// SameSystem are the nodes with the machine UUID that Need.System names, including the node itself
	SameSystem []node.Node
	Taken      map[string]bool // the addresses in Need.Addresses that are ports of other nodes
	// a ramdisk must know its boot's word, which only scripts for the MAC addresses of ports hold
	Words           bool
	OwnDHCP         bool                // only our DHCP gives addresses to machines
	Leased          []string            // the node's ports' addresses from our DHCP; if Needs asks for it
	ReportsHardware bool                // the BMC driver reports BIOS settings and firmware
	HardwareReport  node.HardwareReport // its last report; if Needs asks for it
	// Counts is how many nodes there are in each state, by the project that owns them, "" for none; if Needs asks for it.
	Counts    map[string]map[node.State]int
	Inventory agentapi.Inventory // of the last inspection; if Needs asks for it
	Settings  Settings
	AgentSeen time.Time // the last good heartbeat of this boot; zero when none or forgotten
	// When this boot's agent last reported more done than before, and how far
	// that was, for people; zero and "" when it never did.
	Progressed    time.Time
	Progress      string
	BootStage     string   // the last boot stage seen, for people; "" when none
	Boot          Boot     // the same, for decisions
	LogsMissing   bool     // this boot's machine has logged nothing by itself, and its logs are wanted
	LastWords     []string // the last lines the machine has logged, where Expired may quote them
	EffectPending bool     // an effect is pending: the node is reserved

	// the pending effect, if it is a soft power-off, which may be overtaken; nil for anything else
	ShutDown *node.Effect
}

// Settings are the operator's choices that decisions depend on.
type Settings struct {
	ConductorName     string            // this conductor's name, for history
	DefaultInterfaces map[string]string // of nodes that name none, by kind; others have their hardware type's
	AutomatedClean    bool              // clean between tenants unless the node says otherwise
	FastTrack         bool              // keep Ferrite's agent running between activities
	FastTrackAny      bool              // and any other agent
	FastTrackTimeout  time.Duration     // an agent heard of within this time counts as running
	FastTrackIdle     time.Duration     // a kept agent's machine is switched off after this time at rest; 0 for never
	Kexec             bool              // start the deployed system from the ramdisk, if that is right
	DeployTimeout     time.Duration     // silence of the ramdisk that fails a deploy
	CleanTimeout      time.Duration
	RescueTimeout     time.Duration
	ServiceTimeout    time.Duration
	InspectTimeout    time.Duration
	BootRetries       int           // how often a machine is started again if its network boot stops
	BootRetryAfter    time.Duration // how long it may go no further; 0 for ever
	BootMedia         bool          // this conductor serves the images of virtual drives
	Neutron           bool          // this conductor attaches the networks of nodes with network interface neutron
	InspectionNetwork bool          // and there is one for inspections
	NodeNetworks      []string      // networks of ramdisks that a node may name in its driver_info
	BMC               node.Patience // how long BMCs and power changes may take; zero times are the defaults
	PersonTimeout     time.Duration // how long a power change by a person may take, for a machine without a BMC
	CollectLogs       bool          // ask agents that ship no log for theirs when a run has failed
	StepTimeout       time.Duration // how long a step of agent or BMC may last without measured progress
	StepLimit         time.Duration // how long it may last in all

	SoftPowerOffTimeout   time.Duration // how long an operating system may take to shut down
	RamdiskPowerOff       time.Duration // how long a ramdisk may take to shut down before the BMC cuts the power
	SyncPowerInterval     time.Duration // how often the power of each node is read; 0 for never
	SensorInterval        time.Duration // how often its sensors are, in a turn for its power; 0 for never
	PowerSyncRetries      int           // readings that may fail in a row, and tries to force a machine
	PowerRecoveryInterval time.Duration // how often a BMC lost for long is asked; 0 for never
	ForcePowerState       bool          // change a machine that differs from its record, not the record

	MaxConcurrentDeploy   int  // nodes that may be on their way to active at a time; 0 for any number
	MaxConcurrentClean    int  // nodes that may be deleted or cleaned at a time; 0 for any number
	MaxConcurrentPerGroup bool // of each conductor group, instead of all

	Cleaning CleaningRunbooks // where the steps of automated cleaning come from
	// The operator's priorities of the steps of automated cleaning, and of verification.
	CleanPriorities, VerifyPriorities StepPriorities
	Inspection                        Inspection // effects of inspection data beside the properties

	PowerOffInCleanFail   bool     // switch a machine off after a failed cleaning
	PowerOffInServiceFail bool     // or after a failed service
	NoDeployModes         []string // boot modes that deployed systems must not use; of BootModes
	NoEnrollModes         []string // boot modes that nodes must not have as a capability
	ImageFormats          []string // formats of images that may be deployed, of ImageFormats; none: any
	LesseeSource          string   // the project that a deploy makes the lessee; "" is NoLessee
	RescueHash            string   // of rescue passwords: sha256 or sha512; "" is sha512

	// Disallowed are the steps, as interface.step, that no run of a framework may have.
	Disallowed map[node.Framework][]string

	// When automated cleaning erases disks, and wipes their metadata: a higher
	// priority is earlier, 0 never.
	EraseDevicesPriority, EraseMetadataPriority int
	Erasing                                     Erasing

	// RequireImageCheck refuses a deploy if the conductor could not look at the image.
	RequireImageCheck bool

	// BIOSBootloader lets agents run the grub-install of partition images, which
	// are the tenants' (CVE-2026-43003).
	// ironic-python-agent needs it for each partition image, by UEFI too.
	BIOSBootloader bool
}

// DefaultSettings are Ironic's defaults, with these exceptions. The interval of the power sync is the default of
// earlier releases of Ironic. A wrong power record is corrected, where Ironic would switch the machine. Ironic has no
// limit on a step, and a large disk that erases itself reports nothing for most of a day. Ironic leaves the priorities
// of erasing to the agent, with 10 for all data on disks. That takes hours on most disks, so it is only done on request
// here.
func DefaultSettings() Settings {
	return Settings{
		AutomatedClean:   true,
		FastTrackTimeout: 300 * time.Second,
		FastTrackIdle:    10 * time.Minute,
		DeployTimeout:    1800 * time.Second,
		CleanTimeout:     1800 * time.Second,
		RescueTimeout:    1800 * time.Second,
		ServiceTimeout:   1800 * time.Second,
		InspectTimeout:   1800 * time.Second,
		BootRetries:      2,
		BootRetryAfter:   15 * time.Minute,
		BMC:              node.DefaultPatience(),
		PersonTimeout:    4 * time.Hour,
		CollectLogs:      true,
		StepTimeout:      24 * time.Hour,
		StepLimit:        7 * 24 * time.Hour,

		SoftPowerOffTimeout:   600 * time.Second,
		RamdiskPowerOff:       60 * time.Second,
		SyncPowerInterval:     60 * time.Second,
		SensorInterval:        600 * time.Second, // as Ironic's [sensor_data] interval
		PowerSyncRetries:      3,
		PowerRecoveryInterval: 300 * time.Second,

		MaxConcurrentDeploy: 250,
		MaxConcurrentClean:  50,

		EraseMetadataPriority: 99,
		Erasing:               DefaultErasing(),
	}
}
