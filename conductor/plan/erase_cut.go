package plan

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// cutOff is the text for each disk of an erase with an unknown end.
const cutOff = "not finished: the machine has not reported the state of this disk"

// Erases reports whether a node is amid an erase that it has not reported yet.
func Erases(n node.Node) bool { return needsReport(n.Run) }

// accountForErase puts on record that the run of before was ended at an erase,
// aborted, out of time or failed, and that no report has come: an erase that was
// begun never goes without one.
func (d *decision) accountForErase(before *node.Run) {
	ended := before != nil && (d.n.Run == nil || d.n.Run.Generation != before.Generation)
	if !ended || d.erased != nil || !needsReport(before) {
		return
	}
	n, why := d.n, d.n.LastError
	if why == "" { // nothing went wrong: the instance, say, is deleted amid its service
		why = fmt.Sprintf("%s was ended by request, for %s", before.Activity, d.activityName())
	}
	n.Run = before
	d.erased = UnfinishedErase(n, d.f.Inventory, why, d.now)
}

// UnfinishedErase returns the report of an erase without a report of the machine. It lists the disks of the last
// inspection; none of them is known to be erased. The conductor signs it.
func UnfinishedErase(n node.Node, found agentapi.Inventory, why string, now time.Time) *node.EraseReport {
	began := n.Run.StepSince
	if began.IsZero() || began.After(now) {
		began = now
	}
	report := agentapi.EraseReport{
		Version: agentapi.EraseReportVersion, NodeUUID: n.UUID, Unfinished: why,
		Started: began.UTC().Truncate(time.Second), Finished: now.UTC().Truncate(time.Second), Disks: []agentapi.ErasedDisk{},
	}
	named := report
	named.Machine = agentapi.EraseMachine{
		Manufacturer: found.SystemVendor.Manufacturer, Product: found.SystemVendor.ProductName,
		Serial: found.SystemVendor.SerialNumber,
	}
	for _, disk := range found.Disks {
		named.Disks = append(named.Disks, agentapi.ErasedDisk{
			Device: disk.Name, Model: disk.Model, Serial: disk.Serial, WWN: disk.WWN, Size: disk.Size, Error: cutOff,
		})
	}
	raw, err := json.Marshal(named)
	// an implausible inventory
	if err != nil || named.Validate() != nil || len(raw) > node.MaxEraseReport {
		raw, _ = json.Marshal(report) // plain strings and times
	}
	return &node.EraseReport{NodeUUID: n.UUID, NodeName: n.Name, Failed: true, Report: raw}
}
