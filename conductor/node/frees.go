package node

// Frees reports whether a change makes room in the store, or belongs to an undeploy, which does at its end. A full disk
// still has room for it.
func (c *Change) Frees() bool {
	if c.Insert != nil || len(c.AddPorts) > 0 {
		return false
	}
	for _, n := range []*Node{c.Save, c.Was} {
		if n != nil && (n.ProvisionState == Deleting || n.ProvisionState == Cleaning || n.ProvisionState == CleanWait) {
			return true
		}
	}
	return c.Delete != "" || c.DropAllocation != "" || len(c.DropPorts) > 0 || len(c.DropPortgroups) > 0 ||
		len(c.Volumes.DropConnectors) > 0 || len(c.Volumes.DropTargets) > 0
}
