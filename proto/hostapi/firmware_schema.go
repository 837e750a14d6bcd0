package hostapi

// FirmwareSchema is what the BIOS settings of one make of machines can be. Hosts
// whose settings are alike share one.
type FirmwareSchema struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"What all documents have in common."`

	Spec FirmwareSchemaSpec `json:"spec,omitzero" doc:"What the settings can be."`
}

// FirmwareSchemaSpec is its one part.
type FirmwareSchemaSpec struct {
	HardwareVendor string                   `json:"hardwareVendor,omitempty" doc:"Who made the first machine the schema was made for."`
	HardwareModel  string                   `json:"hardwareModel,omitempty" doc:"The model of that machine."`
	Schema         map[string]SettingSchema `json:"schema" rule:"required" doc:"What each setting can be, by its name."`
}

// SettingSchema is what one setting can be, in the words of Redfish's attribute registry. An
// absent field is not known.
type SettingSchema struct {
	AttributeType   string   `json:"attribute_type,omitempty" rule:"enum=Enumeration/String/Integer/Boolean/Password" doc:"Type of the setting."`
	AllowableValues []string `json:"allowable_values,omitempty" doc:"What an Enumeration can be."`
	LowerBound      *int64   `json:"lower_bound,omitempty" doc:"The least an Integer can be."`
	UpperBound      *int64   `json:"upper_bound,omitempty" doc:"The most an Integer can be."`
	MinLength       *int64   `json:"min_length,omitempty" doc:"Fewest characters of a String."`
	MaxLength       *int64   `json:"max_length,omitempty" doc:"Most characters of a String."`
	ReadOnly        *bool    `json:"read_only,omitempty" doc:"Whether the setting cannot be changed."`
	Unique          *bool    `json:"unique,omitempty" doc:"Whether the setting is of this machine alone, as a serial number is."`
}
