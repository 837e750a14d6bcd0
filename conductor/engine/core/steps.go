package core

import (
	"context"

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

// CheckTemplates refuses the deploy templates of the instance's traits if the node cannot do one of their steps. Like
// Ironic, we store a template with any arguments: it may be for nodes that are not enrolled yet.
func (e *Core) CheckTemplates(ctx context.Context, n node.Node) error {
	names := plan.Request{Verb: node.Deploy}.Needs(n).Templates
	if len(names) == 0 {
		return nil
	}
	templates, err := e.Store.Catalogs().DeployTemplates.List(ctx, "name", names...)
	if err != nil {
		return err
	}
	table, err := e.Steps(ctx, n.UUID)
	if err != nil {
		return err
	}
	return plan.CheckTemplates(n, table, templates)
}
