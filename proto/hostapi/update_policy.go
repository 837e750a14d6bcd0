package hostapi

// HostUpdatePolicy is when the firmware of the host of the same name is changed.
type HostUpdatePolicy struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec   HostUpdatePolicySpec   `json:"spec,omitzero" doc:"When each kind of change is made."`
	Status HostUpdatePolicyStatus `json:"status,omitzero" doc:"Always empty."`
}

// HostUpdatePolicySpec is its one part.
type HostUpdatePolicySpec struct {
	FirmwareSettings UpdatePolicy `json:"firmwareSettings,omitempty" rule:"enum=onPreparing/onReboot" doc:"When settings are changed: before the host is available (when left out), or also at a reboot of a provisioned one."`
	FirmwareUpdates  UpdatePolicy `json:"firmwareUpdates,omitempty" rule:"enum=onPreparing/onReboot" doc:"When firmware is updated: before the host is available (when left out), or also at a reboot of a provisioned one."`
}

// HostUpdatePolicyStatus is empty, as Metal3 has it.
type HostUpdatePolicyStatus struct{}

// UpdatePolicy is when a host may be changed.
type UpdatePolicy string

// Update policies.
const (
	OnPreparing UpdatePolicy = "onPreparing"
	OnReboot    UpdatePolicy = "onReboot"
)
