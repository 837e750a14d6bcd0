package hostapi

// HostFirmwareSettings is the BIOS settings of the host of the same name, as
// somebody wants them and as they are.
type HostFirmwareSettings struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"What all documents have in common."`

	Spec   HostFirmwareSettingsSpec   `json:"spec,omitzero" doc:"The settings as they are wanted."`
	Status HostFirmwareSettingsStatus `json:"status,omitzero" doc:"The settings as they are, written by the conductor."`
}

// HostFirmwareSettingsSpec is the settings as somebody wants them.
type HostFirmwareSettingsSpec struct {
	Settings map[string]IntOrString `json:"settings" rule:"required" doc:"Wanted values by the names of settings, whole numbers or strings. What is not named stays as it is."`
}

// HostFirmwareSettingsStatus is the settings as they are.
type HostFirmwareSettingsStatus struct {
	FirmwareSchema *SchemaReference  `json:"schema,omitempty" doc:"The FirmwareSchema that says what the settings can be."`
	Settings       map[string]string `json:"settings" doc:"The settings in force, without passwords."`
	LastUpdated    *Time             `json:"lastUpdated,omitempty" doc:"When the status was last written."`
	Conditions     []Condition       `json:"conditions,omitempty" doc:"Whether other settings are wanted (ChangeDetected), and whether they can be had (Valid)."`
}

// SchemaReference names a FirmwareSchema.
type SchemaReference struct {
	Namespace string `json:"namespace" doc:"Its namespace."`
	Name      string `json:"name" doc:"Its name."`
}

// Types of conditions of HostFirmwareSettings and HostFirmwareComponents.
const (
	ConditionChangeDetected = "ChangeDetected" // the spec wants something else than there is
	ConditionValid          = "Valid"          // and that can be had
)
