package nodeapi

// RootDeviceQuery is the body of POST /ferrite/v1/nodes/{node}/root-device, which
// may be left out. Without hints those count that the node has.
type RootDeviceQuery struct {
	RootDevice map[string]any `json:"root_device,omitempty"`
}

// RootDevice answers it: the disk an operating system would be installed onto,
// by what the last inspection found. Nothing is changed by asking.
type RootDevice struct {
	Node       string         `json:"node"`              // UUID
	RootDevice map[string]any `json:"root_device"`       // the hints that counted; empty for none
	Disk       string         `json:"disk,omitempty"`    // name of the disk taken
	Refusal    string         `json:"refusal,omitempty"` // why none is
	Disks      []DiskVerdict  `json:"disks"`
}

// DiskVerdict is what became of one disk, and why. Of what the agent did not take
// for a disk only the name is known.
type DiskVerdict struct {
	Name   string `json:"name"`
	Size   int64  `json:"size,omitempty"` // bytes
	Model  string `json:"model,omitempty"`
	Serial string `json:"serial,omitempty"`
	Taken  bool   `json:"taken"`
	Why    string `json:"why"`
}
