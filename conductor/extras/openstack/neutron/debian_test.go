//go:build neutron

package neutron_test

import (
	"testing"

	"github.com/ferrite-metal/ferrite/lab/openstack"
	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

// TestDebian: a machine's life in networks, by Debian's own Neutron.
func TestDebian(t *testing.T) {
	suitetest.Need(t, "neutron-test")
	n, err := openstack.StartNeutron(t.Context(), openstack.Here, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Stop(); err != nil {
			t.Error(err)
		}
	}()
	life(t, n.URL)
}
