package nodeapi

// Provision is the body of PUT /v1/nodes/{node}/states/provision.
type Provision struct {
	Target string `json:"target"`
	// ConfigDrive is base64 of a gzipped ISO, a URL, or an object of
	// meta_data, network_data, user_data, vendor_data.
	ConfigDrive    any    `json:"configdrive,omitempty"`
	CleanSteps     []Step `json:"clean_steps,omitempty"`
	DeploySteps    []Step `json:"deploy_steps,omitempty"` // with a priority each
	ServiceSteps   []Step `json:"service_steps,omitempty"`
	Runbook        string `json:"runbook,omitempty"` // name or UUID, instead of steps
	RescuePassword string `json:"rescue_password,omitempty"`
	DisableRamdisk bool   `json:"disable_ramdisk,omitempty"`
}

// Step is one step an operator asks for. Priority is for deploy steps alone,
// which must have one; 0 takes the step out of the deploy.
type Step struct {
	Interface           string         `json:"interface"`
	Step                string         `json:"step"`
	Args                map[string]any `json:"args,omitempty"`
	Priority            *int           `json:"priority,omitempty"`
	ExecuteOnChildNodes bool           `json:"execute_on_child_nodes,omitempty"`
	LimitChildNodes     []string       `json:"limit_child_node_execution,omitempty"`
}

// Power is the body of PUT /v1/nodes/{node}/states/power. Timeout is seconds.
type Power struct {
	Target  string `json:"target"`
	Timeout int    `json:"timeout,omitempty"`
}

// ConfirmedPower is the body of PUT /ferrite/v1/nodes/{node}/power: "power on" or "power off".
type ConfirmedPower struct {
	Confirmed string `json:"confirmed"`
}

// Maintenance is the body of PUT /v1/nodes/{node}/maintenance.
type Maintenance struct {
	Reason string `json:"reason,omitempty"`
}

// BootDevice is the body of /v1/nodes/{node}/management/boot_device, of requests and answers.
type BootDevice struct {
	Device     string `json:"boot_device"`
	Persistent bool   `json:"persistent"`
}

// Valid is the verdict on one interface: GET /v1/nodes/{node}/validate answers
// a map of them by kind. A nil Result means not supported.
type Valid struct {
	Result *bool  `json:"result"`
	Reason string `json:"reason,omitempty"`
}
