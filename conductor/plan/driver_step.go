package plan

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// driverEffect does one step of the BMC driver, or asks after it.
const driverEffect = "driver.execute_step"

// DriverArgs are the args of driver.execute_step. Task is the driver's answer to the previous call for the step.
type DriverArgs struct {
	Step node.Step `json:"step"`
	Task string    `json:"task,omitempty"`
}

// maxReboots is how often one step may ask for a reboot.
const maxReboots = 3

// driverAnswered handles a driver's report: the step is done, needs a reboot of the machine, or must be polled again.
func driverAnswered(d *decision, report node.StepReport) error {
	r := d.n.Run
	switch {
	case report.Done:
		if report.Volumes != nil {
			d.volumesKnown(*report.Volumes)
		}
		if report.HardwareReport != nil {
			d.learnHardware(*report.HardwareReport)
		}
		d.stepDone()
	case report.Reboot:
		if d.moved(report.Progress) { // several updates in one step need a start each
			r.Rebooted = 0
		}
		if r.Rebooted++; r.Rebooted > maxReboots {
			return fmt.Errorf("the step requests one reboot after the other: %d were made", maxReboots)
		}
		r.Task = report.Task
		d.insert(r.Index, d.rebootForDriver()...)
		d.advance()
	case d.n.ProvisionState.Class() == node.Working && node.Row(d.n.ProvisionState, node.Wait) == nil:
		return fmt.Errorf("the step is not done at once, but a node cannot wait while it is %s", d.n.ProvisionState)
	default:
		return d.askAgain(report)
	}
	return nil
}

// rebootForDriver restarts the machine in the middle of a run, back into the
// ramdisk when the run works with one. The run of a child never does.
func (d *decision) rebootForDriver() []node.Step {
	if d.n.Agent.URL == "" || d.childBusy() {
		return []node.Step{step("power", "reboot", nil)}
	}
	return bootToAgent(d)
}

// askAgain keeps a step's effect pending, for later. A new note of the BMC proves that it still answers. It does not
// extend the time that the step may take.
func (d *decision) askAgain(report node.StepReport) error {
	r := d.n.Run
	moved := d.moved(report.Progress)
	if err := d.goesOn(); err != nil {
		return err
	}
	why := cmp.Or(report.Note, fmt.Sprintf("the BMC to finish %s", r.Current()))
	again := d.now.Add(max(report.After, time.Second))
	if r.Waiting != why || moved || d.n.Deadline.Before(again) { // a driver that waits for an hour is not silent for it
		d.awaitUntil(why, d.beforeStepEnd(again.Add(d.timeout())))
	}
	r.Task = report.Task
	d.enqueue(driverEffect, DriverArgs{Step: *r.Current(), Task: r.Task})
	// Sooner, if a restart of the conductor would end the wait before it: that gives it one timeout.
	d.effects[len(d.effects)-1].RunAt = earlier(again, d.now.Add(d.timeout()/2))
	return nil
}
