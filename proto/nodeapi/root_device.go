package nodeapi

// RootDeviceQuery is the body of POST /ferrite/v1/nodes/{node}/root-device, which
// may be left out. Without hints those count that the node has.
type RootDeviceQuery struct {
	RootDevice map[string]any `json:"root_device,omitempty"`
}

// RootDevice is the disk on which an operating system would be installed, by the last inspection. The request changes
// nothing.
type RootDevice struct {
	Node       string         `json:"node"`              // UUID
	RootDevice map[string]any `json:"root_device"`       // the hints that counted; empty for none
	Disk       string         `json:"disk,omitempty"`    // name of the disk taken
	Refusal    string         `json:"refusal,omitempty"` // why none is
	Disks      []DiskVerdict  `json:"disks"`
}

// DiskVerdict is the decision about one disk, with its reason. For devices that the agent did not list as disks only
// the name is known.
type DiskVerdict struct {
	Name   string `json:"name"`
	Size   int64  `json:"size,omitempty"` // bytes
	Model  string `json:"model,omitempty"`
	Serial string `json:"serial,omitempty"`
	Taken  bool   `json:"taken"`
	Why    string `json:"why"`
}
