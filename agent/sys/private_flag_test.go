package sys

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPrivateFlag: the loopback interface has no flags of a driver; a missing one is named.
func TestPrivateFlag(t *testing.T) {
	if _, err := (Linux{}).PrivateFlag("lo", "disable-fw-lldp", true); !errors.Is(err, unix.EOPNOTSUPP) {
		t.Errorf("lo: %v", err)
	}
	_, err := (Linux{}).PrivateFlag("none0", "disable-fw-lldp", true)
	if want := "private flag disable-fw-lldp of none0: no such device"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
