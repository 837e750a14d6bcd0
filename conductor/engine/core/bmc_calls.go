package core

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Patience is how long the BMC and the machine of n are waited for.
func (e *Core) Patience(n node.Node) node.Patience { return plan.PatienceOf(n, e.Settings) }
