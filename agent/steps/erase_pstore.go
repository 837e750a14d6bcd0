package steps

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// erasePstore deletes the logs that the kernel kept of crashes of earlier tenants.
// That removes them from the firmware's memory too. It verifies that they are gone.
func erasePstore(_ context.Context, m *Machine, _ Request) (any, error) {
	dir, err := m.Pstore()
	if err != nil {
		return nil, err
	}
	if dir == "" {
		m.Log.Info("nothing to erase: this kernel has no pstore")
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("%s: deleted, but %d records are still there, the first %s", dir, len(left), left[0].Name())
	}
	m.Log.Info("pstore erased", "records", len(entries))
	return nil, nil
}
