package mem

import (
	"runtime"
	"slices"
	"strings"
)

// Fault is one failure to come.
type Fault struct {
	Method string // that locks the store: "Commit", "Objects", "write" of any catalog; "" for any
	Nth    int    // counts the matching calls from now on, 1 for the next; 0 for all of them
	After  bool   // of Commit and AppendAudit: let the call take effect first, and lose its answer
	Err    error
}

// Fail adds a fault.
func (s *Store) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// Heal forgets all faults.
func (s *Store) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// fault returns the error for a call, if a fault meets it. With After it is the error that the call returns at its end.
func (s *Store) fault() error {
	s.lost = nil
	if len(s.faults) == 0 {
		return nil
	}
	method := caller()
	var hit *Fault
	s.faults = slices.DeleteFunc(s.faults, func(f *Fault) bool {
		if f.Method != "" && f.Method != method {
			return false
		}
		if f.Nth <= 1 {
			hit = f
		}
		f.Nth--
		return f.Nth == 0
	})
	if hit != nil && hit.After {
		s.lost = hit.Err
		return nil
	}
	if hit != nil {
		return hit.Err
	}
	return nil
}

// caller is the name of the method that has called lock.
func caller() string {
	pc, _, _, _ := runtime.Caller(3)
	name := runtime.FuncForPC(pc).Name()
	return name[strings.LastIndexByte(name, '.')+1:]
}
