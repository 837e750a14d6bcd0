package hostapi

// FirmwareSchema describes the possible BIOS settings of one make of machines. Hosts with equal settings share one.
type FirmwareSchema struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec FirmwareSchemaSpec `json:"spec,omitzero" doc:"The allowed values of the settings."`
}

// FirmwareSchemaSpec is its one part.
type FirmwareSchemaSpec struct {
	HardwareVendor string                   `json:"hardwareVendor,omitempty" doc:"The maker of the first machine of this schema."`
	HardwareModel  string                   `json:"hardwareModel,omitempty" doc:"The model of that machine."`
	Schema         map[string]SettingSchema `json:"schema" rule:"required" doc:"Allowed values of each setting, by its name."`
}

// SettingSchema describes the values of one setting, in the words of Redfish's attribute registry. An absent field is
// not known.
type SettingSchema struct {
	AttributeType   string   `json:"attribute_type,omitempty" rule:"enum=Enumeration/String/Integer/Boolean/Password" doc:"Type of the setting."`
	AllowableValues []string `json:"allowable_values,omitempty" doc:"Allowed values of an Enumeration."`
	LowerBound      *int64   `json:"lower_bound,omitempty" doc:"The least an Integer can be."`
	UpperBound      *int64   `json:"upper_bound,omitempty" doc:"The most an Integer can be."`
	MinLength       *int64   `json:"min_length,omitempty" doc:"Fewest characters of a String."`
	MaxLength       *int64   `json:"max_length,omitempty" doc:"Most characters of a String."`
	ReadOnly        *bool    `json:"read_only,omitempty" doc:"Whether the setting cannot be changed."`
	Unique          *bool    `json:"unique,omitempty" doc:"Whether the setting is of this machine alone, as a serial number is."`
}
