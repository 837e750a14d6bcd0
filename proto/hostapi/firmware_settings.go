package hostapi

// HostFirmwareSettings is the wanted and the observed BIOS settings of the host of the same name.
type HostFirmwareSettings struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec   HostFirmwareSettingsSpec   `json:"spec,omitzero" doc:"The settings as they are wanted."`
	Status HostFirmwareSettingsStatus `json:"status,omitzero" doc:"The settings as they are, written by the conductor."`
}

// HostFirmwareSettingsSpec is the wanted settings.
type HostFirmwareSettingsSpec struct {
	Settings map[string]IntOrString `json:"settings" rule:"required" doc:"Wanted values by the names of settings, whole numbers or strings. Other settings stay as they are."`
}

// HostFirmwareSettingsStatus is the settings as they are.
type HostFirmwareSettingsStatus struct {
	FirmwareSchema *SchemaReference  `json:"schema,omitempty" doc:"The FirmwareSchema that describes the settings."`
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
