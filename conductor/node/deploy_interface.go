package node

import (
	"fmt"
	"strings"
)

// autodetect is the deploy interface that the instance decides on.
const autodetect = "autodetect"

// originalDeploy is Ironic's key in driver_internal_info for the deploy interface that comes back after the instance.
const originalDeploy = "original_deploy_interface"

// Autodetects reports whether the next instance decides on the deploy interface.
func (n *Node) Autodetects() bool { return n.Interfaces["deploy"] == autodetect }

// DeployInterface is the deploy interface that does the work. With autodetect the instance decides. Ironic tries
// ramdisk, bootc and direct in this order (autodetect_deploy_interfaces); bootc is not built.
func (n *Node) DeployInterface() string {
	switch {
	case !n.Autodetects():
		return n.Interfaces["deploy"]
	case n.ramdiskInstance():
		return "ramdisk"
	}
	return "direct"
}

// ramdiskInstance reports whether an instance is a ramdisk. A kernel and a ramdisk beside an image_source may belong to
// a partition image, so instance_info needs ironic_ramdisk_deploy then, as in Ironic. Unlike Ironic, it need not have
// the key where there is no image to write.
func (n *Node) ramdiskInstance() bool {
	has := func(key string) bool { return n.InstanceInfo[key] != nil && n.InstanceInfo[key] != "" }
	source, _ := n.InstanceInfo["image_source"].(string)
	asked := strings.EqualFold(fmt.Sprint(n.InstanceInfo["ironic_ramdisk_deploy"]), "true")
	boots := has("boot_iso") || has("kernel") && has("ramdisk") || GlanceImage(source) != ""
	return boots && (asked || source == "")
}

// FixDeploy keeps the deploy interface that autodetect has found, until RestoreDeploy: an edit of instance_info must
// not change the boot of a running instance.
func (n *Node) FixDeploy() {
	if !n.Autodetects() {
		return
	}
	n.Interfaces["deploy"] = n.DeployInterface()
	if n.DriverInternalInfo == nil {
		n.DriverInternalInfo = map[string]any{}
	}
	n.DriverInternalInfo[originalDeploy] = autodetect
}

// RestoreDeploy ends FixDeploy.
func (n *Node) RestoreDeploy() {
	if n.DriverInternalInfo[originalDeploy] == autodetect {
		n.Interfaces["deploy"] = autodetect
	}
	n.KeepDeploy()
}

// KeepDeploy keeps the present deploy interface beyond RestoreDeploy: an operator has chosen it since.
func (n *Node) KeepDeploy() { delete(n.DriverInternalInfo, originalDeploy) }
