package inventory

import (
	"fmt"
	"io/fs"
	"log/slog"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// switches records the flags; the driver of "old" has no such flag.
type switches []string

func (s *switches) PrivateFlag(name, flag string, on bool) (bool, error) {
	*s = append(*s, fmt.Sprintf("%s %s %t", name, flag, on))
	if name == "old" {
		return false, fmt.Errorf("private flag %s of %s: %w", flag, name, unix.EOPNOTSUPP)
	}
	return true, nil
}

func TestLetLLDPThrough(t *testing.T) {
	fsys := fstest.MapFS{}
	for name, driver := range map[string]string{"x710": "i40e", "old": "i40e", "e810": "ice", "x550": "ixgbe"} {
		fsys["sys/class/net/"+name+"/device/driver"] = &fstest.MapFile{Mode: fs.ModeSymlink | 0o777,
			Data: []byte("../../../bus/pci/drivers/" + driver)}
	}
	var s switches
	LetLLDPThrough(fsys, &s, []string{"x710", "old", "e810", "x550", "absent"}, slog.New(slog.DiscardHandler))
	want := switches{"x710 disable-fw-lldp true", "old disable-fw-lldp true", "e810 fw-lldp-agent false"}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}
