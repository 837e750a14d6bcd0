package redfish

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// steady is the number of good answers in a row after which a BMC has settled (Ironic,
// firmware_update_required_successes).
const steady = 3

// settleUpdate waits for the operator's time, notes the versions and continues with the next update. A BMC that was
// updated itself must have settled before.
func (r *stepCall) settleUpdate(f firmwareSetting, all int) (node.StepReport, error) {
	wait, err := driverinfo.Silent(r.node)
	if err != nil {
		return node.StepReport{}, err
	}
	wait = cmp.Or(f.Wait, wait)
	if left := time.Duration(wait)*time.Second - r.now.Sub(r.memory.Since); left > 0 {
		return r.report(node.StepReport{
			After: left, Note: fmt.Sprintf("waits %d s after the update of %s", wait, f.Component),
		})
	}
	if f.Component == "bmc" {
		if report, settled, err := r.settleBMC(f, time.Duration(wait)*time.Second); !settled {
			return report, err
		}
	}
	version, err := r.version(f.Component)
	if err != nil {
		return node.StepReport{}, err
	}
	was := r.memory.Was[f.Component]
	r.memory.Said = append(r.memory.Said,
		fmt.Sprintf("%s was %s and is %s", f.Component, cmp.Or(was, "unknown"), cmp.Or(version, "unknown")))
	if r.memory.Item++; r.memory.Item >= all {
		return done("%s", strings.Join(r.memory.Said, "; "))
	}
	r.progress = 100 * r.memory.Item
	if f.Component == "bmc" && version != was { // some cards take an update only after it (Ironic, redfish/firmware.py)
		r.enter("next")
		return r.reboot("a start of the machine with the BMC's new firmware, before the next update")
	}
	return r.begin("next", "continues with the next update")
}

// settleBMC waits until a BMC that was updated answers steadily and shows another version. A BMC that does not restart
// keeps its version: then the update had none to change, which is no error unless the task is gone, too. waited is the
// operator's time, which is over.
func (r *stepCall) settleBMC(f firmwareSetting, waited time.Duration) (report node.StepReport, settled bool,
	err error) {
	spent := r.now.Sub(r.memory.Since)
	if err := r.resources(); err != nil {
		r.memory.Good = 0
		if spent > waited+r.firmware.Settle {
			return report, false, broken("the BMC does not settle within %s after its update: expected %d good answers in a "+
				"row, the last is: %v; restart the BMC by hand", r.firmware.Settle, steady, describe(err))
		}
		report, err = r.look("the BMC has not settled: " + clip(describe(err).Error(), maxError))
		return report, false, err
	}
	if r.memory.Good++; r.memory.Good < steady {
		report, err = r.look(fmt.Sprintf("the BMC settles after its update: %d of %d good answers", r.memory.Good, steady))
		return report, false, err
	}
	version, err := r.version(f.Component)
	if err != nil {
		return report, false, err
	}
	if version != r.memory.Was[f.Component] && version != "" {
		return report, true, nil
	}
	if spent <= r.firmware.Version {
		report, err = r.look("waits until the BMC shows its new version")
		return report, false, err
	}
	if r.memory.Lost {
		return report, false, r.resultUnknown(f, version)
	}
	return report, true, nil
}

// look is wait for a BMC that settles.
func (r *stepCall) look(note string) (node.StepReport, error) {
	return r.report(node.StepReport{After: r.firmware.Between, Note: note})
}

// resources reads the documents that a BMC shows late after a restart: the same as in Ironic.
func (r *stepCall) resources() error {
	l, err := r.systemLinks()
	if err != nil {
		return err
	}
	for _, path := range slices.Concat(paths(l.Links.ManagedBy), paths(l.Links.Chassis)) {
		var doc struct{ NetworkAdapters reference }
		if _, err := r.get(path, &doc); err != nil {
			return err
		}
		if doc.NetworkAdapters.Path == "" {
			continue
		}
		// HPE answers 400 while the machine is off (Ironic, redfish/firmware.py).
		if _, err := r.members(doc.NetworkAdapters.Path); err != nil && status(err) != http.StatusBadRequest {
			return err
		}
	}
	return nil
}

// version is the version that runs now; "" for a component that the BMC does not show.
func (r *stepCall) version(component string) (string, error) {
	l, err := r.systemLinks()
	if err != nil {
		return "", err
	}
	switch component {
	case "bios":
		return r.biosVersion(l.BiosVersion)
	case "bmc":
		m, err := r.manager()
		return m.FirmwareVersion, err
	}
	cards, err := r.networkCards(l)
	if err != nil { // HPE shows no cards while the machine is off (Ironic, redfish/firmware.py)
		return "", r.optional("network cards", err)
	}
	for _, c := range cards {
		if c.Component == component {
			return c.CurrentVersion, nil
		}
	}
	return "", nil
}
