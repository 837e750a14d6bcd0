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

// CheckCleaning refuses automated cleaning of a node with a runbook that is missing or does not fit.
func (e *Core) CheckCleaning(ctx context.Context, n node.Node) error {
	f := plan.Facts{Settings: e.Settings, Offers: e.offers(n)}
	var err error
	if f.Cleaning, err = e.CleaningRunbook(ctx, n); err != nil {
		return err
	}
	if f.HardwareReport, err = e.Store.HardwareReport(ctx, n.UUID); err != nil {
		return err
	}
	return plan.CheckCleaning(n, f)
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
