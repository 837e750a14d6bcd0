// Package sitestep reads the steps that a site adds to its ramdisk: a program under
// /etc/ferrite/steps.d, and its manifest NAME.json beside it. Agent and builder of
// ramdisks share it, so that both refuse the same mistakes.
//
// It must not start programs: package agent/steps does.
package sitestep

import "time"

// Folder is the place of site steps, below the root of the ramdisk.
const Folder = "etc/ferrite/steps.d"

// Limits of manifests.
const (
	maxManifest    = 64 << 10 // bytes
	maxName        = 64       // bytes of a step or of an argument
	maxText        = 256      // bytes of a description
	maxArguments   = 32       // as many as the conductor keeps
	maxSteps       = 128      // the conductor takes 256 of an agent, ours among them
	DefaultTimeout = time.Hour
	MaxTimeout     = 24 * time.Hour // longer than a step of the conductor may last by default
)

// Step is a step of a site.
type Step struct {
	Manifest
	File    string        // of the manifest, below Folder
	Program string        // below Folder
	Limit   time.Duration // Timeout, or DefaultTimeout
}

// Manifest is the content of NAME.json.
type Manifest struct {
	// Interface is deploy, the default, or raid. Other interfaces have no steps of
	// agents before the first agent has listed them, so templates could not name them.
	Interface string `json:"interface,omitempty"`
	Step      string `json:"step"` // its name: a-z, 0-9 and _
	// Priority has the kinds of runs with this step, and its place there: clean,
	// deploy, service. 0 runs when asked for by name. Default: all three, with 0.
	Priority  map[string]int      `json:"priority,omitempty"`
	Arguments map[string]Argument `json:"arguments,omitempty"` // by name; a step takes no others
	Abortable bool                `json:"abortable,omitempty"` // the machine may be switched off meanwhile
	Timeout   string              `json:"timeout,omitempty"`   // as Go writes durations: 90s, 30m; default 1h
}

// Argument is one argument of a step.
type Argument struct {
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// ArgsInfo is the arguments in the form of ironic-python-agent's hardware managers; nil
// without arguments.
func (m Manifest) ArgsInfo() map[string]any {
	if len(m.Arguments) == 0 {
		return nil
	}
	info := map[string]any{}
	for name, a := range m.Arguments {
		info[name] = map[string]any{"description": a.Description, "required": a.Required}
	}
	return info
}
