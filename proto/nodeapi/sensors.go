package nodeapi

// Sensors is the answer to GET /ferrite/v1/nodes/{node}/sensors: the last reading of a machine's sensors.
type Sensors struct {
	Node       string   `json:"node"`
	At         string   `json:"at"`     // RFC 3339
	Source     string   `json:"source"` // Thermal and Power, MetricReports, Sensors, SDR
	Sensors    []Sensor `json:"sensors"`
	Incomplete []string `json:"incomplete,omitempty"` // unreadable parts, and why
}

// Sensor is one value that a BMC measures, or the health of one part.
type Sensor struct {
	Group         string   `json:"group"` // Temperature, Fan, Power, Voltage, Drive, Memory, Processor, Other
	Name          string   `json:"name"`  // unique within the group
	ID            string   `json:"id,omitempty"`
	Of            string   `json:"of,omitempty"` // chassis
	Context       string   `json:"context,omitempty"`
	Reading       *float64 `json:"reading"` // null: a health alone
	Unit          string   `json:"unit,omitempty"`
	UpperCritical *float64 `json:"upper_critical,omitempty"`
	State         string   `json:"state,omitempty"`
	Health        string   `json:"health,omitempty"` // OK, Warning, Critical
}
