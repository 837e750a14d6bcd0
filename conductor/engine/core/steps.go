package core

import (
	"context"
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Steps lists the steps a node has, as far as they are known without booting it.
func (e *Core) Steps(ctx context.Context, ref string) (plan.StepTable, error) {
	n, err := e.Node(ctx, ref)
	if err != nil {
		return plan.StepTable{}, err
	}
	report, err := e.Store.HardwareReport(ctx, n.UUID)
	if err != nil {
		return plan.StepTable{}, err
	}
	return plan.StepsOf(n, e.offers(n), report.AgentSteps, e.Settings), nil
}

// offers returns the steps of a node's BMC driver.
func (e *Core) offers(n node.Node) []node.StepOffer {
	if stepper, ok := e.BMCs[n.Driver].(Stepper); ok {
		return stepper.Steps(n)
	}
	return nil
}

// AllOffers returns the steps of all enabled BMC drivers, driver by driver.
func (e *Core) AllOffers() (all []node.StepOffer) {
	for _, driver := range slices.Sorted(maps.Keys(e.BMCs)) {
		all = append(all, e.offers(node.Node{Driver: driver})...)
	}
	return all
}
