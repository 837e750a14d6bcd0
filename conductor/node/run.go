package node

import "time"

// Run is an activity under way: its steps and how far they have come.
type Run struct {
	Activity   string    `json:"activity"` // a key of plan's activities: verify, clean, deploy, ...
	Steps      []Step    `json:"steps"`
	Index      int       `json:"index"`
	Generation int64     `json:"generation"`         // outcomes of another generation are dropped
	Command    string    `json:"command,omitempty"`  // id of the agent command awaited
	Task       string    `json:"task,omitempty"`     // the driver's memory of the step it is asked after
	Relisted   int       `json:"relisted,omitempty"` // how often the agent's steps were begun again
	Rebooted   int       `json:"rebooted,omitempty"` // how often the step under way asked for a reboot
	Waiting    string    `json:"waiting,omitempty"`  // the reason of the wait, for people
	Since      time.Time `json:"since,omitzero"`
	StepSince  time.Time `json:"step_since,omitzero"` // when the step under way was first found unfinished; zero before
	StepMoved  time.Time `json:"step_moved,omitzero"` // when it was last seen to advance, or could be seen again
	StepDone   int       `json:"step_done,omitempty"` // the most that its driver has reported of StepReport.Progress
	// Switched describes a requested power change during the step under way, and its time; "" for none.
	Switched string `json:"switched,omitempty"`

	// BootAwaited is when the wait for the ramdisk began, zero before. With BootLook the node's
	// deadline is not the end of that wait, but when it is looked how far the machine has come.
	// BootTries is how often it was started again.
	BootAwaited time.Time `json:"boot_awaited,omitzero"`
	BootLook    bool      `json:"boot_look,omitempty"`
	BootTries   int       `json:"boot_tries,omitempty"`

	// FirmwareStarts is how often the conductor has started the machine through its firmware.
	FirmwareStarts int `json:"firmware_starts,omitempty"`

	// Versions are the versions of the agent's hardware managers, which it reported with its steps. Each step command
	// carries them, and the agent refuses it if they have changed.
	Versions map[string]string `json:"versions,omitempty"`

	// The operator's request.
	ByHand     bool   `json:"by_hand,omitempty"`     // cleaning with steps of the operator's: ends in manageable
	Listed     []Step `json:"listed,omitempty"`      // the requested steps, until their executors are known
	NoRamdisk  bool   `json:"no_ramdisk,omitempty"`  // the machine is not booted into a ramdisk for it
	AbortAfter bool   `json:"abort_after,omitempty"` // to be aborted once the step under way is over

	// Project is the project of the user that requested a deploy, "" for the whole system. Image is the UUID in Glance
	// of the image that the deploy began with: a later edit may name another.
	Project string `json:"project,omitempty"`
	Image   string `json:"image,omitempty"`

	Doubts []string `json:"doubts,omitempty"` // warnings from before the run, for people
}

// Current returns the step being done, nil when the run has none left.
func (r *Run) Current() *Step {
	if r == nil || r.Index < 0 || r.Index >= len(r.Steps) {
		return nil
	}
	return &r.Steps[r.Index]
}

// Left is the steps from the current one on.
func (r *Run) Left() []Step {
	if r == nil {
		return nil
	}
	return r.Steps[min(max(r.Index, 0), len(r.Steps)):]
}

// ChildRun is a step that a child node does for a step of its parent's.
type ChildRun struct {
	Token   string `json:"token"` // the parent's UUID, generation and step: asked twice, done once
	Done    bool   `json:"done,omitempty"`
	Failure string `json:"failure,omitempty"`
}
