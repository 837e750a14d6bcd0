package node

import "github.com/ferrite-metal/ferrite/conductor/node/fsm"

// By is the initiator of a row.
type By bool

// A row is fired by an operator's request, or only by the engine.
const (
	ByRequest By = true
	Internal  By = false
)

// Transition is one row: in From, On leads to To.
type Transition struct {
	From State
	On   Event
	To   State
	By   By
	Why  string // one clause, for people
}

// Table is the whole life of a node: the 93 transitions of Ironic's machine.
// Docs, tests and the diagram are derived from it.
var Table = []Transition{
	{Enroll, Manage, Verifying, ByRequest, "check that the BMC answers to these credentials"},

	{Verifying, Done, Manageable, Internal, "power and management answered, the power state is known"},
	{Verifying, Fail, Enroll, Internal, "wrong credentials or no BMC: nothing was learnt, last_error says why"},

	{Manageable, Provide, Cleaning, ByRequest, "wipe the data of the last owner, then offer the machine"},
	{Manageable, Clean, Cleaning, ByRequest, "the steps an operator listed; ends in manageable again"},
	{Manageable, Inspect, Inspecting, ByRequest, "read the machine's hardware"},
	{Manageable, Adopt, Adopting, ByRequest, "it already runs a workload: take it over untouched"},

	{Inspecting, Done, Manageable, Internal, "the inventory is stored"},
	{Inspecting, Fail, InspectFailed, Internal, "the ramdisk could not be booted or its data made no sense"},
	{Inspecting, Wait, InspectWait, Internal, "the ramdisk is booting"},

	{InspectWait, Done, Manageable, Internal, "the data came and needed no more work"},
	{InspectWait, Fail, InspectFailed, Internal, "no call in time, or a hook refused the data"},
	{InspectWait, Abort, InspectFailed, ByRequest, "an operator will not wait any longer"},
	{InspectWait, Resume, Inspecting, Internal, "the ramdisk has sent its data"},

	{InspectFailed, Manage, Manageable, ByRequest, "an operator accepts the known data"},
	{InspectFailed, Inspect, Inspecting, ByRequest, "try again"},

	{Adopting, Done, Active, Internal, "the workload is ours to look after"},
	{Adopting, Fail, AdoptFailed, Internal, "the boot settings cannot be validated"},

	{AdoptFailed, Adopt, Adopting, ByRequest, "try again"},
	{AdoptFailed, Manage, Manageable, ByRequest, "give up on taking it over"},

	{Cleaning, Done, Available, Internal, "nothing is left of the last owner"},
	{Cleaning, Fail, CleanFailed, Internal, "a step failed: the disks may hold data, so it is not offered"},
	{Cleaning, Wait, CleanWait, Internal, "the ramdisk is booting or running a step"},
	{Cleaning, Hold, CleanHold, Internal, "a step requested a pause"},
	{Cleaning, Manage, Manageable, Internal, "the end of cleaning by hand"},

	{CleanWait, Fail, CleanFailed, Internal, "no call in time, or the step failed on the machine"},
	{CleanWait, Abort, CleanFailed, ByRequest, "an operator stops it, where the step allows"},
	{CleanWait, Hold, CleanHold, Internal, "a step requested a pause"},
	{CleanWait, Resume, Cleaning, Internal, "the agent has called, or a step ended"},

	{CleanHold, Abort, CleanFailed, ByRequest, "an operator gives up"},
	{CleanHold, Unhold, CleanWait, ByRequest, "an operator continues it at the next heartbeat"},

	{CleanFailed, Manage, Manageable, ByRequest, "an operator has checked it"},

	{Available, Deploy, Deploying, ByRequest, "put an operating system on it"},
	{Available, Manage, Manageable, ByRequest, "take it out of the pool"},

	{Deploying, Fail, DeployFailed, Internal, "a step failed on our side"},
	{Deploying, Wait, DeployWait, Internal, "the ramdisk is booting or running a step"},
	{Deploying, Hold, DeployHold, Internal, "a step requested a pause"},
	{Deploying, Done, Active, Internal, "it boots its own operating system"},

	{DeployWait, Hold, DeployHold, Internal, "a step requested a pause"},
	{DeployWait, Resume, Deploying, Internal, "the agent has called, or a step ended"},
	{DeployWait, Fail, DeployFailed, Internal, "no call in time, or the step failed on the machine"},
	{DeployWait, Abort, DeployFailed, ByRequest, "an operator stops it, where the step allows"},
	{DeployWait, Delete, Deleting, ByRequest, "not wanted any more"},

	{DeployHold, Unhold, DeployWait, ByRequest, "an operator continues it at the next heartbeat"},
	{DeployHold, Abort, DeployFailed, ByRequest, "an operator gives up"},

	{DeployFailed, Rebuild, Deploying, ByRequest, "try again with the same instance"},
	{DeployFailed, Deploy, Deploying, ByRequest, "try again"},
	{DeployFailed, Delete, Deleting, ByRequest, "give up and clean it"},

	{Active, Rebuild, Deploying, ByRequest, "write the image again, keep the instance"},
	{Active, Delete, Deleting, ByRequest, "the instance is done with"},
	{Active, RescueIt, Rescuing, ByRequest, "boot a ramdisk to repair it by hand"},
	{Active, Service, Servicing, ByRequest, "change the machine under a living workload"},

	{Servicing, Done, Active, Internal, "back to its own operating system"},
	{Servicing, Fail, ServiceFailed, Internal, "a step failed on our side"},
	{Servicing, Wait, ServiceWait, Internal, "the ramdisk is booting or running a step"},
	{Servicing, Hold, ServiceHold, Internal, "a step requested a pause"},

	{ServiceWait, Hold, ServiceHold, Internal, "a step requested a pause"},
	{ServiceWait, Resume, Servicing, Internal, "the agent has called, or a step ended"},
	{ServiceWait, Fail, ServiceFailed, Internal, "no call in time, or the step failed on the machine"},
	{ServiceWait, Abort, ServiceFailed, ByRequest, "an operator stops it, where the step allows"},
	{ServiceWait, Delete, Deleting, ByRequest, "not wanted any more"},

	{ServiceHold, Service, Servicing, ByRequest, "continue with other steps"},
	{ServiceHold, Unhold, ServiceWait, ByRequest, "an operator continues it at once"},
	{ServiceHold, Fail, ServiceFailed, Internal, "the held work cannot be continued"},
	{ServiceHold, Abort, ServiceFailed, ByRequest, "an operator gives up"},

	{ServiceFailed, Service, Servicing, ByRequest, "try again"},
	{ServiceFailed, RescueIt, Rescuing, ByRequest, "repair it by hand"},
	{ServiceFailed, Wait, ServiceWait, Internal, "an asynchronous step is still running"},
	{ServiceFailed, Hold, ServiceHold, Internal, "a step requested a pause"},
	{ServiceFailed, Delete, Deleting, ByRequest, "give up on the instance"},
	{ServiceFailed, Abort, Active, ByRequest, "back to the workload as it is"},

	{Rescuing, Done, Rescue, Internal, "the rescue ramdisk takes logins"},
	{Rescuing, Wait, RescueWait, Internal, "the rescue ramdisk is booting"},
	{Rescuing, Fail, RescueFailed, Internal, "the rescue ramdisk could not be booted"},

	{RescueWait, Resume, Rescuing, Internal, "the rescue ramdisk has called"},
	{RescueWait, Fail, RescueFailed, Internal, "no call in time"},
	{RescueWait, Abort, RescueFailed, ByRequest, "an operator gives up"},
	{RescueWait, Delete, Deleting, ByRequest, "not wanted any more"},

	{Rescue, RescueIt, Rescuing, ByRequest, "another password, a fresh ramdisk"},
	{Rescue, Delete, Deleting, ByRequest, "the instance is done with"},
	{Rescue, Unrescue, Unrescuing, ByRequest, "the repair is done"},

	{RescueFailed, RescueIt, Rescuing, ByRequest, "try again"},
	{RescueFailed, Unrescue, Unrescuing, ByRequest, "leave it as it is"},
	{RescueFailed, Delete, Deleting, ByRequest, "give up on the instance"},

	{Unrescuing, Done, Active, Internal, "it boots its own operating system again"},
	{Unrescuing, Fail, UnrescueFailed, Internal, "the boot settings could not be put back"},

	{UnrescueFailed, RescueIt, Rescuing, ByRequest, "repair it by hand"},
	{UnrescueFailed, Unrescue, Unrescuing, ByRequest, "try again"},
	{UnrescueFailed, Delete, Deleting, ByRequest, "give up on the instance"},

	{Deleting, Fail, Error, Internal, "the tear-down failed: the machine may still run the workload"},
	{Deleting, Clean, Cleaning, Internal, "torn down, now wipe it"},

	{Error, Rebuild, Deploying, ByRequest, "write the image again"},
	{Error, Delete, Deleting, ByRequest, "try the tear-down again"},
}

// Edge is the row without its reason.
func (t Transition) Edge() (from State, on Event, to State) { return t.From, t.On, t.To }

// Label is the event, as the diagram shows it. Events that an operator asks for are
// marked (API).
func (t Transition) Label() string {
	if t.By == ByRequest {
		return string(t.On) + " (API)"
	}
	return string(t.On)
}

// Reason is why there is the row.
func (t Transition) Reason() string { return t.Why }

var machine = fsm.New(Table)

// Next returns the state that e leads to from s, or s itself and an
// *InvalidEventError.
func Next(s State, e Event) (State, error) {
	next, ok := machine.Next(s, e)
	if !ok {
		return s, &InvalidEventError{s, e}
	}
	return next, nil
}

// Mermaid renders Table as a Mermaid state diagram, in table order.
func Mermaid() string { return machine.Mermaid() }

// Verbs lists the verbs that an operator may request in s, in the table's order.
func Verbs(s State) []Event {
	var verbs []Event
	for _, t := range Table {
		if t.From == s && t.By == ByRequest {
			verbs = append(verbs, t.On)
		}
	}
	return verbs
}

// Row finds the row for e in s; nil when there is none.
func Row(s State, e Event) *Transition { return machine.Row(s, e) }

// Requestable reports whether an operator may ask for e in s.
func Requestable(s State, e Event) bool {
	t := machine.Row(s, e)
	return t != nil && t.By == ByRequest
}
