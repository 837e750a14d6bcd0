package redfish

import (
	"net/http"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// leaving is how long a BMC without a time of its last reset may still answer after the
// request.
const leaving = 15 * time.Second

// resetBMC does management.reset_bmc: it restarts the BMC and waits until it answers again. The time of the last reset
// shows whether the BMC has done it. A BMC that does not show that time may be reset twice when a conductor dies, which
// does no harm.
func resetBMC(r *stepCall) (node.StepReport, error) {
	if err := r.arguments(&struct{}{}); err != nil {
		return node.StepReport{}, err
	}
	m, err := r.manager()
	if err != nil {
		return node.StepReport{}, err
	}
	came := m.LastResetTime != "" && m.LastResetTime != r.memory.Was["LastResetTime"]
	switch {
	case r.memory.Stage == "":
		r.memory.Was = map[string]string{"LastResetTime": m.LastResetTime}
		return r.begin("ask", "begins to reset the BMC")
	case came:
		return done("the BMC was reset and answers again")
	case r.memory.Stage == "ask":
		kind := "GracefulRestart"
		if offered := m.Actions.Reset.OneOf; len(offered) > 0 && !slices.Contains(offered, kind) {
			kind = "ForceRestart"
		}
		_, err := r.ask(http.MethodPost, m.Actions.Reset.Target, map[string]any{"ResetType": kind})
		if refusesValue(err) { // ResetType is optional (DSP2046), and iLO 5 knows no parameter from 2.10 on
			_, err = r.ask(http.MethodPost, m.Actions.Reset.Target, map[string]any{})
		}
		if err == nil || isWire(err) { // some restart before they have answered
			r.enter("wait")
		}
		if err != nil {
			return node.StepReport{}, err
		}
	case m.LastResetTime == "" && r.now.Sub(r.memory.Since) > leaving:
		return done("the BMC was asked to reset and answers")
	case r.overdue():
		return node.StepReport{},
			broken("the BMC took the reset %s ago and has not done it: expected a LastResetTime after %s, found %s; "+
				"reset it by hand",
				r.patience, r.memory.Was["LastResetTime"], m.LastResetTime)
	}
	return r.wait("the BMC restarts")
}
