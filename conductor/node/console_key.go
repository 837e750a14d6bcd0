package node

// consoleKey is where driver_internal_info has the SSH host key that the BMC showed at its first console.
const consoleKey = "console_ssh_host_key"

// ConsoleKey is the SSH host key (as in known_hosts) of the BMC's console at an address, host:port; "" when none is
// known there.
func (n *Node) ConsoleKey(address string) string {
	known, _ := n.DriverInternalInfo[consoleKey].(map[string]any)
	if known["address"] != address {
		return ""
	}
	key, _ := known["key"].(string)
	return key
}

// SetConsoleKey keeps one key: a node has one BMC.
func (n *Node) SetConsoleKey(address, key string) {
	if n.DriverInternalInfo == nil {
		n.DriverInternalInfo = map[string]any{}
	}
	n.DriverInternalInfo[consoleKey] = map[string]any{"address": address, "key": key}
}
