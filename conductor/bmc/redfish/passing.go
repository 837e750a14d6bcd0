package redfish

import (
	"net/http"
	"strings"
)

// passingRefusals are a BMC's answers to a request that it refuses only for now: a message of a registry, the status
// that must come with it, 0 for any, and the source.
var passingRefusals = []struct {
	message string
	status  int
	source  string
}{
	{"ActionParameterValueConflict", http.StatusConflict, "iDRAC 10 after a power-off: ironic redfish/power.py"},
	{"UnableToModifyDuringSystemPOST", 0, "HPE iLO: ironic redfish/management.py"},
	{"InvalidOperationForSystemState", 0, "HPE iLO: sushy connector.py"},
	{"SYS518", 0, "iDRAC is not ready: sushy connector.py"},
	{"ServiceTemporarilyUnavailable", 0, "DSP8011, Base"},
	{"ServiceShuttingDown", 0, "DSP8011, Base"},
	{"ResourceInStandby", 0, "DSP8011, Base"},
	{"ResourceInUse", 0, "DSP8011, Base"},
}

// passing reports a refusal that may be gone in a minute.
func passing(err error) bool {
	code, id := status(err), messageID(err)
	if code == http.StatusTooManyRequests {
		return true
	}
	for _, p := range passingRefusals {
		if strings.Contains(id, p.message) && (p.status == 0 || p.status == code) {
			return true
		}
	}
	return false
}

// Patience reports whether the same request may be answered otherwise in some minutes: the
// BMC is silent, starting, or busy with the machine.
func (e *answerError) Patience() bool {
	return e.status >= http.StatusInternalServerError || passing(e.cause)
}

// Patience is true: a BMC that restarts is silent for minutes.
func (e *wireError) Patience() bool { return true }

// Patience is true: a BMC that starts has no documents for minutes.
func (e *documentError) Patience() bool { return true }
