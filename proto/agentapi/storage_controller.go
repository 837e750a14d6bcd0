package agentapi

// StorageController is a storage subsystem of a machine as its BMC reports it, in the form of Ironic's inspection by
// Redfish. A ramdisk sends none.
type StorageController struct {
	ID     string            `json:"id"`
	Name   string            `json:"name,omitempty"`
	Parts  []ControllerPart  `json:"storage_controllers"`
	Drives []ControllerDrive `json:"drives"`
}

// ControllerPart is one controller of the subsystem. The words are Redfish's (DSP0268, StorageControllers).
type ControllerPart struct {
	MemberID            string      `json:"member_id,omitempty"`
	Name                string      `json:"name,omitempty"`
	RAIDTypes           []string    `json:"raid_types"`
	SpeedGbps           float64     `json:"speed_gbps,omitempty"`
	ControllerProtocols []string    `json:"controller_protocols"`
	DeviceProtocols     []string    `json:"device_protocols"`
	Status              *PartStatus `json:"status,omitempty"`
}

// ControllerDrive is a drive of the subsystem; Size is in bytes.
type ControllerDrive struct {
	Name         string      `json:"name"`
	Size         int64       `json:"size"`
	ID           string      `json:"id,omitempty"`
	MediaType    string      `json:"media_type,omitempty"`
	SerialNumber string      `json:"serial_number,omitempty"`
	Manufacturer string      `json:"manufacturer,omitempty"`
	Model        string      `json:"model,omitempty"`
	Revision     string      `json:"revision,omitempty"`
	Protocol     string      `json:"protocol,omitempty"`
	Status       *PartStatus `json:"status,omitempty"`
}

// PartStatus is the health of a part, in Redfish's words.
type PartStatus struct {
	Health       string `json:"health,omitempty"`
	State        string `json:"state,omitempty"`
	HealthRollup string `json:"health_rollup,omitempty"`
}
