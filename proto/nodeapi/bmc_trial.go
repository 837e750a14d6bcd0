package nodeapi

// BMCTrial is the body of POST /ferrite/v1/bmc-test: a node before it is enrolled, as far as its BMC goes.
type BMCTrial struct {
	Driver     string         `json:"driver"`
	DriverInfo map[string]any `json:"driver_info,omitempty"`
}

// BMCAnswer is the answer of a BMC that lets the conductor in.
type BMCAnswer struct {
	PowerState string  `json:"power_state"` // "power on" or "power off"; "" where the driver does not know it
	Seconds    float64 `json:"seconds"`     // that the login and the reading took
}
