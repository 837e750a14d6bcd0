package redfish

import (
	"context"
	"slices"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Vitals reads the power state and the health of the machine: both belong to the system, so
// one request reads them.
func (d *Driver) Vitals(ctx context.Context, n node.Node) (v node.Vitals, err error) {
	err = d.call(ctx, n, "read the power state", func(s *session) error {
		sys, err := s.read()
		if err != nil {
			return err
		}
		if v.Power = powerStates[sys.PowerState]; v.Power == "" {
			v.Said, v.Becomes = label(string(sys.PowerState)), becoming[sys.PowerState]
		}
		v.Health = health(sys)
		return nil
	})
	if err != nil {
		return node.Vitals{}, err
	}
	return v, nil
}

// health is the machine's in Ironic's words, which are Redfish's; "" for any
// other.
func health(sys *schemas.ComputerSystem) string {
	if known := []schemas.Health{schemas.OKHealth, schemas.WarningHealth, schemas.CriticalHealth}; slices.Contains(known,
		sys.Status.Health) {
		return string(sys.Status.Health)
	}
	return ""
}
