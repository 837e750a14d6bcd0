package nodeapi

// ProvisionStates are the provision states a node can be in, by the order in
// which a machine goes through them.
func ProvisionStates() []string {
	return []string{
		"enroll", "verifying", "manageable",
		"inspecting", "inspect wait", "inspect failed",
		"adopting", "adopt failed",
		"cleaning", "clean wait", "clean hold", "clean failed",
		"available", "deploying", "wait call-back", "deploy hold", "deploy failed", "active",
		"servicing", "service wait", "service hold", "service failed",
		"rescuing", "rescue wait", "rescue", "rescue failed", "unrescuing", "unrescue failed",
		"deleting", "error",
	}
}

// RestingStates are the provision states that a node leaves only on a request: the stable ones, those after a failure,
// and the holds.
func RestingStates() []string {
	return []string{
		"enroll", "manageable", "inspect failed", "adopt failed",
		"clean hold", "clean failed",
		"available", "deploy hold", "deploy failed", "active",
		"service hold", "service failed",
		"rescue", "rescue failed", "unrescue failed", "error",
	}
}
