package node

import (
	"cmp"
	"strings"
)

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

// MediaURL is the base of the URLs under which the BMC of the node reads images that this conductor serves:
// driver_info/external_http_url, as in Ironic, or else the conductor's own. It has no slash at the end.
func (n *Node) MediaURL(own string) string {
	if at, ok := n.DriverInfo["external_http_url"].(string); ok && at != "" {
		return strings.TrimRight(at, "/")
	}
	return own
}

// AgentISOs are the media of the site's own from which the node boots its agent: for a rescue, and for all else. "" is
// the conductor's own medium. The keys with a prefix, such as ilo_deploy_iso, are Ironic's older names.
func (n *Node) AgentISOs() (deploy, rescue string) {
	named := func(key, old string) string {
		at, _ := n.DriverInfo[key].(string)
		_, value := n.BMCSettingOf(old)
		before, _ := value.(string)
		return cmp.Or(at, before)
	}
	return named("deploy_iso", "redfish_deploy_iso"), named("rescue_iso", "redfish_rescue_iso")
}
