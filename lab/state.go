package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// stateFile is the description of a running lab, for `ferrite-lab down` and for scripts. It holds the controllers'
// passwords: mode 0600.
const stateFile = "lab.json"

// State is a running lab, on disk.
type State struct {
	ID        string         `json:"id"`
	Process   Process        `json:"process"`
	Namespace string         `json:"namespace"`
	Gateway   string         `json:"gateway"`
	Subnet    string         `json:"subnet"`
	Control   string         `json:"control"`    // URL on the host's loopback
	Images    string         `json:"images"`     // URL inside the namespace
	PhoneHome string         `json:"phone_home"` // URL inside the namespace
	URL       string         `json:"url"`        // of the conductor's API, on the host's loopback; empty without one
	Machines  []MachineState `json:"machines"`
	Children  []ChildState   `json:"children"`
}

// MachineState is one machine; Process is nil while it is off.
type MachineState struct {
	Name     string   `json:"name"`
	UUID     string   `json:"uuid"`
	MACs     []string `json:"macs"`
	BMC      string   `json:"bmc"` // URL inside the namespace
	Username string   `json:"username"`
	Password string   `json:"password"`
	Console  string   `json:"console"`
	Process  *Process `json:"process,omitempty"`
}

// ChildState is one process beside the machines.
type ChildState struct {
	Name    string  `json:"name"`
	Log     string  `json:"log"`
	Process Process `json:"process"`
}

// ReadState reads the state of the lab in dir. When there is none, the error
// is fs.ErrNotExist.
func ReadState(dir string) (State, error) {
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return State{}, fmt.Errorf("lab state: %w", err)
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		return State{}, fmt.Errorf("lab state %s: %w", filepath.Join(dir, stateFile), err)
	}
	return s, nil
}

// write puts the state on disk in one step: a reader, or a lab killed in the
// middle, never leaves half a file.
func (s State) write(dir string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("lab state: %w", err)
	}
	file := filepath.Join(dir, stateFile)
	if err := os.WriteFile(file+".new", append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("lab state: %w", err)
	}
	return os.Rename(file+".new", file)
}

// State is a copy of the lab's state.
func (l *Lab) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state
	s.Machines, s.Children = slices.Clone(s.Machines), slices.Clone(s.Children)
	return s
}

// change updates the state and writes it.
func (l *Lab) change(update func(*State)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	update(&l.state)
	if l.stateGone {
		return nil // closing: processes that are still ending need not be found again
	}
	return l.state.write(l.config.Dir)
}

// remember records a child before another process could need to end it.
func (l *Lab) remember(c *Child) error {
	p, err := identify(c.PID())
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, os.ErrNotExist) {
		return nil // ended already
	}
	if err != nil {
		return err
	}
	return l.change(func(s *State) {
		l.children = append(l.children, c)
		s.Children = append(s.Children, ChildState{c.Name, c.Log, p})
	})
}

// forget drops a child that has ended.
func (l *Lab) forget(c *Child) {
	err := l.change(func(s *State) {
		l.children = slices.DeleteFunc(l.children, func(other *Child) bool { return other == c })
		s.Children = slices.DeleteFunc(s.Children, func(other ChildState) bool { return other.Process.PID == c.PID() })
	})
	if err != nil {
		l.log.Error("state not written", "err", err)
	}
}

// recordMachine notes the process of a machine; pid 0 is off.
func (l *Lab) recordMachine(name string, pid int) {
	var process *Process
	if p, err := identify(pid); pid != 0 && err == nil {
		process = &p
	}
	err := l.change(func(s *State) {
		i := slices.IndexFunc(s.Machines, func(m MachineState) bool { return m.Name == name })
		if i >= 0 {
			s.Machines[i].Process = process
		}
	})
	if err != nil {
		l.log.Error("state not written", "err", err)
	}
}
