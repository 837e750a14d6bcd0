package node

// Medium is an image to be put into a virtual drive of a machine.
type Medium struct {
	Device string `json:"device_type"` // disk, cdrom or floppy
	Image  string `json:"image_url"`   // which the BMC itself fetches; it may hold credentials
}

// MediaSlot is a virtual drive as its BMC shows it. The JSON form is Ironic's.
type MediaSlot struct {
	Types    []string `json:"media_types"` // Redfish's: CD, DVD, USBStick, Floppy
	Inserted bool     `json:"inserted"`
	Image    *string  `json:"image"` // nil for an empty drive
}

// MediaDevices are the kinds of virtual drive that can be named.
func MediaDevices() []string { return []string{"cdrom", "disk", "floppy"} }
