// Package node is the node as plain data: the record, the states of its life
// and THE table of transitions between them, and the records kept around it
// (ports, effects, history, leases).
//
// It is pure: no I/O, no clock, no goroutine, none of our other packages. Next
// is the only function that yields a new state; only the engine stores one.
package node

import (
	"cmp"
	"encoding/json"
	"time"
)

// Node is one machine. The JSON form is the stored form; package api makes the form for operators.
type Node struct {
	UUID     string `json:"uuid"`
	Name     string `json:"name,omitempty"`
	Revision int64  `json:"revision"` // grows by one with every save

	Driver     string            `json:"driver"`
	Interfaces map[string]string `json:"interfaces,omitempty"` // kind (power, deploy, ...) -> name (redfish, direct, ...)

	ProvisionState       State      `json:"provision_state"`
	TargetProvisionState State      `json:"target_provision_state,omitempty"`
	ProvisionUpdatedAt   *time.Time `json:"provision_updated_at,omitempty"`
	PowerState           PowerState `json:"power_state,omitempty"`
	TargetPowerState     PowerState `json:"target_power_state,omitempty"`
	LastError            string     `json:"last_error,omitempty"`
	Maintenance          bool       `json:"maintenance,omitempty"`
	MaintenanceReason    string     `json:"maintenance_reason,omitempty"`
	Fault                string     `json:"fault,omitempty"`
	BootMode             string     `json:"boot_mode,omitempty"` // uefi or bios, as the BMC reports it
	SecureBoot           *bool      `json:"secure_boot,omitempty"`
	// OK, Warning or Critical, as the BMC sums it up; "" when it does not
	Health string `json:"health,omitempty"`

	DriverInfo         map[string]any `json:"driver_info,omitempty"`
	DriverInternalInfo map[string]any `json:"driver_internal_info,omitempty"` // fields of the API beyond Run and Agent
	Properties         map[string]any `json:"properties,omitempty"`
	InstanceInfo       map[string]any `json:"instance_info,omitempty"`
	Extra              map[string]any `json:"extra,omitempty"`
	NetworkData        map[string]any `json:"network_data,omitempty"`
	RAIDConfig         map[string]any `json:"raid_config,omitempty"`
	TargetRAIDConfig   map[string]any `json:"target_raid_config,omitempty"`

	InstanceUUID    string   `json:"instance_uuid,omitempty"`
	InstanceName    string   `json:"instance_name,omitempty"`
	ChassisUUID     string   `json:"chassis_uuid,omitempty"`
	AllocationUUID  string   `json:"allocation_uuid,omitempty"`
	ResourceClass   string   `json:"resource_class,omitempty"`
	Traits          []string `json:"traits,omitempty"`
	ConductorGroup  string   `json:"conductor_group,omitempty"`
	Owner           string   `json:"owner,omitempty"`
	Lessee          string   `json:"lessee,omitempty"`
	Description     string   `json:"description,omitempty"`
	Shard           string   `json:"shard,omitempty"`
	ParentNode      string   `json:"parent_node,omitempty"`
	AutomatedClean  *bool    `json:"automated_clean,omitempty"`
	Protected       bool     `json:"protected,omitempty"`
	ProtectedReason string   `json:"protected_reason,omitempty"`
	Retired         bool     `json:"retired,omitempty"`
	RetiredReason   string   `json:"retired_reason,omitempty"`
	DisablePowerOff bool     `json:"disable_power_off,omitempty"`
	SharesMachine   bool     `json:"shares_machine,omitempty"` // its machine may be another node's: an operator's word
	ConsoleEnabled  bool     `json:"console_enabled,omitempty"`

	InspectionStartedAt  *time.Time `json:"inspection_started_at,omitempty"`
	InspectionFinishedAt *time.Time `json:"inspection_finished_at,omitempty"`
	CreatedAt            time.Time  `json:"created_at"`
	UpdatedAt            *time.Time `json:"updated_at,omitempty"`

	Import *Import `json:"import,omitempty"` // nil of a node that was not imported

	Run      *Run      `json:"run,omitempty"`     // the activity under way
	Child    *ChildRun `json:"child,omitempty"`   // the last step done for the parent node
	Chore    string    `json:"chore,omitempty"`   // the pending effect that belongs to no run
	Agent    Agent     `json:"agent"`             // the ramdisk's agent, as far as it is known
	Deadline time.Time `json:"deadline,omitzero"` // when waiting ends in Expired; zero for never
}

// Project is the project for which the work on the node takes turns with other projects' work. It is the lessee,
// because it requests the work, else the owner; "" for none.
func (n *Node) Project() string { return cmp.Or(n.Lessee, n.Owner) }

// PowerState is Ironic's spelling of on and off, and of power targets.
type PowerState string

// The power states and the targets a request can name.
const (
	PowerOn       PowerState = "power on"
	PowerOff      PowerState = "power off"
	PowerError    PowerState = "error"
	Rebooting     PowerState = "rebooting"
	SoftRebooting PowerState = "soft rebooting"
	SoftPowerOff  PowerState = "soft power off"
)

// Agent is the recorded state of the agent of the current boot. All of it but Since is forgotten when the machine is
// powered off or rebooted.
type Agent struct {
	URL         string    `json:"url,omitempty"`
	Version     string    `json:"version,omitempty"`
	VerifyCA    string    `json:"verify_ca,omitempty"`    // PEM the agent's certificate is pinned to
	Token       string    `json:"token,omitempty"`        // secret; never shown
	TokenSent   bool      `json:"token_sent,omitempty"`   // given out once this boot
	Caller      string    `json:"caller,omitempty"`       // the address it was given to
	WordSalt    string    `json:"word_salt,omitempty"`    // the one-time token of this boot is made from it
	WordHash    string    `json:"word_hash,omitempty"`    // SHA-256 of that word; "" when no boot script was answered
	Unproven    bool      `json:"unproven,omitempty"`     // booted by a conductor that gave no words yet
	LastCommand string    `json:"last_command,omitempty"` // id of the newest command with a recorded answer
	Doubted     bool      `json:"doubted,omitempty"`      // a run has failed with it: no other run is given to it
	Since       time.Time `json:"since,omitzero"`         // when this boot was asked for; zero when that is not known
}

// Port is one network interface of a node, known by its MAC (lower case).
type Port struct {
	UUID                string         `json:"uuid"`
	NodeUUID            string         `json:"node_uuid"`
	Address             string         `json:"address"`
	Name                string         `json:"name,omitempty"`
	PXEEnabled          bool           `json:"pxe_enabled"`
	LocalLinkConnection map[string]any `json:"local_link_connection,omitempty"`
	PortgroupUUID       string         `json:"portgroup_uuid,omitempty"`
	PhysicalNetwork     string         `json:"physical_network,omitempty"`
	IsSmartNIC          bool           `json:"is_smartnic,omitempty"`
	Description         string         `json:"description,omitempty"`
	Vendor              string         `json:"vendor,omitempty"`
	Category            string         `json:"category,omitempty"`
	NoDynamicPortgroup  bool           `json:"no_dynamic_portgroup,omitempty"`
	Extra               map[string]any `json:"extra,omitempty"`
	InternalInfo        map[string]any `json:"internal_info,omitempty"`
	CreatedAt           time.Time      `json:"created_at"`
	UpdatedAt           *time.Time     `json:"updated_at,omitempty"`
}

// Effect is pending work in the outside world. Its row exists exactly as long as the work is pending. A node has at
// most one.
type Effect struct {
	ID         int64
	Node       string // UUID
	Generation int64  // Run.Generation that it belongs to
	Name       string
	Args       json.RawMessage
	RunAt      time.Time
	Owner      string // the conductor that holds the lease
	Attempt    int    // grows with every claim: with ID and Owner it is the fence
	LeaseUntil time.Time
	Error      string // the error of the last attempt, or of its last reading
	// Accepted is when the peer accepted each of the effect's actions, by their names. Accepted actions are not
	// requested again.
	Accepted map[string]time.Time
}

// HistoryEntry is one line of a node's history.
type HistoryEntry struct {
	UUID      string    `json:"uuid"`
	NodeUUID  string    `json:"node_uuid"`
	CreatedAt time.Time `json:"created_at"`
	Severity  string    `json:"severity"`   // INFO or ERROR
	EventType string    `json:"event_type"` // the activity
	Event     string    `json:"event"`
	State     State     `json:"state,omitempty"`
	Target    State     `json:"target_provision_state,omitempty"`
	Conductor string    `json:"conductor,omitempty"`
	User      string    `json:"user,omitempty"`
	Project   string    `json:"project,omitempty"`
	Duration  *int64    `json:"duration_seconds,omitempty"` // how long the node had been in State; nil when not known
}

// Decline is an address that a machine was lent and found in use by another (DHCPDECLINE): it is not offered until
// then. MAC is lower case.
type Decline struct {
	MAC      string
	Subnet   string // as a lease has it
	IP       string
	Stranger bool // the machine was not enrolled
	Until    time.Time
}

// Lease is a DHCP lease or, when Static, a reservation. MAC is lower case.
type Lease struct {
	MAC     string
	Subnet  string // its name, where several subnets have the address; else ""
	IP      string
	Static  bool
	Expires time.Time
}

// Where names the address for people.
func (l Lease) Where() string {
	if l.Subnet == "" {
		return l.IP
	}
	return l.IP + " of subnet " + l.Subnet
}

// Inspected holds the findings of the last inspection. They are stored apart from the node because they are large. Both
// parts are JSON objects.
type Inspected struct {
	Inventory  json.RawMessage
	PluginData json.RawMessage
}

// Change is everything one decision writes, in one transaction: all of it or nothing. Insert, Save and Delete are
// alternatives.
type Change struct {
	Finish    *Effect // the fence: deleted WHERE id, owner and attempt; ErrFenced when it is gone
	Insert    *Node   // a new node; ErrConflict on a taken UUID, name, instance or machine
	Save      *Node   // its Revision must be the stored one (ErrStale), and is stored plus one
	Delete    string  // UUID; ports, history, inspection and effects go with it
	DeleteAt  int64   // the revision that Delete's node must be of (ErrStale); 0 for any
	Hurry     bool    // the pending effect of Save's node falls due at once, unless it is being carried out
	Effects   []Effect
	History   []HistoryEntry
	Events    []ChangeEvent // of this change; stored apart from the node
	Was       *Node         // the node before Save or Delete, as far as it is known; not stored
	Moves     []Transition  // the rows of the table that were taken, for the log; not stored
	DropPorts []string      // UUIDs
	// replace the ports of these UUIDs (ErrStale when one is gone); ErrConflict on a taken address or name
	SavePorts      []Port
	AddPorts       []Port          // new ports; ErrConflict on a taken UUID, address or name
	Inspected      *Inspected      // of Save's node
	HardwareReport *HardwareReport // of Save's node

	// PutAllocation is inserted when its Revision is 0 (ErrConflict on a taken
	// key); else that must be the stored one (ErrStale), and is stored plus one.
	PutAllocation *Allocation
	// DropAllocation is the UUID of an allocation of the saved node, or of no node when none is saved (else ErrStale).
	// An allocation that is already gone is no error.
	DropAllocation string
	// SavePortgroups are stored before their ports. A portgroup with Revision 0 is inserted (ErrConflict on a taken
	// key). Any other Revision must be the stored one (ErrStale), and is stored plus one.
	SavePortgroups []Portgroup
	DropPortgroups []string // UUIDs, after the ports; a Refusal when one is gone, or still has ports
	Volumes        VolumeChange
	// PutEraseReport is inserted (ErrConflict on a taken UUID); of a node's others
	// the newest stay, EraseReportsKept in all.
	PutEraseReport *EraseReport
}

// VolumeChange is the part of a change that writes volumes. Records are inserted or saved by their Revision, as
// SavePortgroups. Drops come first.
type VolumeChange struct {
	DropConnectors, DropTargets []string // UUIDs; a Refusal when one is gone
	Connectors                  []VolumeConnector
	Targets                     []VolumeTarget
}

// Shard is the number of nodes in a shard; the name is "" for nodes without one.
type Shard struct {
	Name  string
	Count int
}

// Sized is a node in a list of nodes to be read.
type Sized struct {
	UUID  string
	Bytes int // of its documents in the database
}

// Query filters and pages nodes. Nil and zero fields do not filter.
type Query struct {
	Equal          map[string]string // the values of FilterText fields, by name; "" does not filter
	Is             map[string]bool   // the values of FilterFlag fields, by name
	UUIDs          []string
	ProvisionState *State
	ConductorGroup *string
	Project        string // that is the owner or the lessee
	WithChildren   bool
	Associated     *bool
	ConsoleEnabled *bool
	Shards         []string
	Sharded        *bool
	Contains       string // in Description, ignoring case

	Marker  string // UUID after which the page starts
	Limit   int    // 0 for all
	SortKey string // a column of Node's API form; "" for the order of creation
	Desc    bool
}

// PortQuery filters ports. Zero fields do not filter.
type PortQuery struct {
	NodeUUID        string
	Address         string
	PortgroupUUID   string
	Shards          []string // of the node: one of them
	ConductorGroups []string // of the node: one of them
	Contains        string   // in Description, ignoring case
	Project         string   // of the node's owner or lessee
	Marker          string   // UUID after which the page starts
	Limit           int      // 0 for all
}
