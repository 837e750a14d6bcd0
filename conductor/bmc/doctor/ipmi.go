package doctor

import (
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
)

// ipmiOperations are the operations of a machine's life that IPMI has.
var ipmiOperations = []operation{
	{name: "login", need: Must, look: ipmiLogin},
	{name: "inspect", need: May, look: inspect},
	{name: "power", need: Must, look: power, exercise: exercisePower},
	{name: "boot device", need: Must, look: bootDevice, exercise: exerciseBootDevice},
	{name: "boot mode", need: Should, look: bootMode},
	{name: "sensors", need: May, look: sensors},
	{name: "serial console", need: May, look: ipmiConsole},
}

func ipmiLogin(ctx context.Context, v *visit) (string, error) {
	if _, err := v.driver.PowerState(ctx, v.node); err != nil {
		return "", err
	}
	return fmt.Sprintf("as %v", v.node.DriverInfo["ipmi_username"]), nil
}

// ipmiConsole checks settings alone: serial over LAN has one user, and a connection would end that user's session.
func ipmiConsole(_ context.Context, v *visit) (string, error) {
	if err := v.driver.(*ipmi.Driver).ValidateConsole(v.node); err != nil {
		return "", err
	}
	return "serial over LAN is not opened, since it has one user at a time: see ferrite node console NODE", nil
}
