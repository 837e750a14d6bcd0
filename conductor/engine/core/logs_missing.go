package core

import "github.com/ferrite-metal/ferrite/conductor/node"

// logsMissing reports whether the agent of a node has sent no log by itself, although its log is wanted.
func (e *Core) logsMissing(n node.Node) bool {
	return e.BootLogs != nil && e.Settings.CollectLogs && n.Agent.URL != "" &&
		!e.BootLogs.Has(n.UUID, node.BootName(n.Agent.Token))
}
