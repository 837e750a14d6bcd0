package wait

import (
	"errors"
	"fmt"
	"sync"
)

// Each does something to every name, and tells of all that failed.
func Each(names []string, do func(name string) error) error {
	var failed []error
	for _, name := range names {
		if err := do(name); err != nil {
			failed = append(failed, named(names, name, err))
		}
	}
	return errors.Join(failed...)
}

// All is each, at the same time.
func All(names []string, do func(name string) error) error {
	failed := make([]error, len(names))
	var running sync.WaitGroup
	for i, name := range names {
		running.Go(func() {
			if err := do(name); err != nil {
				failed[i] = named(names, name, err)
			}
		})
	}
	running.Wait()
	return errors.Join(failed...)
}

// named says which one failed, where there are several.
func named(names []string, name string, err error) error {
	if len(names) == 1 {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
