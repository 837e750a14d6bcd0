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
