package serve

import (
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// disallowFlags declares the lists of steps that no caller may have done, one for each framework.
func (c *Config) disallowFlags(s *settings) {
	c.Disallow = map[node.Framework]*[]string{}
	for _, row := range []struct {
		fw    node.Framework
		where string
	}{
		{node.CleanSteps, "cleaning, by hand, by a runbook or automated"},
		{node.DeploySteps, "a deploy, on request or by a deploy template"},
		{node.ServiceSteps, "a service, on request or by a runbook"},
	} {
		list, name := new([]string), fmt.Sprintf("disallow-%s-steps", row.fw)
		c.Disallow[row.fw] = list
		s.eachVar(list, name, nil, "`steps` (raid.apply_configuration) that no caller may have done in "+row.where,
			nodeapi.IsStep, ": expected INTERFACE.STEP, with an interface of "+strings.Join(nodeapi.StepInterfaces(), ", "))
	}
}

// bootModeFlags declares the lists of boot modes that are not allowed.
func (c *Config) bootModeFlags(s *settings) {
	isMode, say := oneOf(plan.BootModes()), ": say bios or uefi"
	s.eachVar(&c.NoDeployModes, "disallowed-deployment-boot-modes", nil,
		"`modes` in which no system is deployed: bios or uefi", isMode, say)
	s.eachVar(&c.NoEnrollModes, "disallowed-enrollment-boot-modes", nil,
		"`modes` that no new or edited node may have as the capability boot_mode: bios or uefi", isMode, say)
}

// disallowed is those lists as decisions have them.
func (c *Config) disallowed() map[node.Framework][]string {
	all := map[node.Framework][]string{}
	for fw, steps := range c.Disallow {
		all[fw] = *steps
	}
	return all
}
