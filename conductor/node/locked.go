package node

// LockedBy is Ironic's refusal of a request for a node that a conductor works on. ref is
// the node's UUID or name, host the conductor's name.
func LockedBy(ref, host string) error {
	return Refuse(Locked, "Node %s is locked by host %s, please retry after the current operation is completed.", ref,
		host)
}
