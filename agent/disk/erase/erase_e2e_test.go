//go:build e2e

package erase

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestE2ELoopDevices erases real block devices by the kernel's methods for them, and looks into the file behind.
func TestE2ELoopDevices(t *testing.T) {
	for _, sector := range []int{512, 4096} {
		for _, method := range []string{"discard", "zero_out", "overwrite"} {
			t.Run(fmt.Sprintf("%s on sectors of %d", method, sector), func(t *testing.T) {
				const size = 32 << 20
				file := filepath.Join(t.TempDir(), "disk")
				if err := os.WriteFile(file, bytes.Repeat([]byte("keep it!"), size/8), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command("losetup", "-f", "--show", "-b", fmt.Sprint(sector), file).Output()
				if err != nil {
					t.Fatal(err)
				}
				dev := strings.TrimSpace(string(out))
				t.Cleanup(func() {
					if out, err := exec.Command("losetup", "-d", dev).CombinedOutput(); err != nil {
						t.Errorf("%v: %s", err, out)
					}
				})
				erasesLoop(t, dev, method, size)
				left, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if n := bytes.Count(left, []byte("keep it!")); n > 0 {
					t.Errorf("the file behind the device holds %d of the words", n)
				}
			})
		}
	}
}

// erasesLoop erases a device by one method, after finding out that it has it.
func erasesLoop(t *testing.T, dev, method string, size int64) {
	t.Helper()
	facts := Marked(os.DirFS("/"), agentapi.Disk{Name: dev, Size: size})
	open := func(ctx context.Context, of agentapi.Disk) (Drive, func(), error) {
		d, err := disk.OpenDevice(ctx, of.Name)
		if err != nil {
			return nil, nil, err
		}
		return d, func() { d.Close() }, nil
	}
	d, closeDrive, err := open(t.Context(), facts.Disk)
	if err != nil {
		t.Fatal(err)
	}
	facts, err = facts.Probe(d)
	closeDrive()
	if err != nil {
		t.Fatal(err)
	}
	o := usual(t)
	i := slices.IndexFunc(Methods(), func(m Method) bool { return m.Name == method })
	r := Run{Options: o, Open: open, Progress: func(agentapi.Progress) {}, Step: "erase_devices",
		Log: slog.New(slog.DiscardHandler)}
	got := r.Disks(t.Context(), PlanOf(Methods()[i:i+1], []Facts{facts}, o))[0]
	if got.Method != method || got.Verification == nil || !got.Verification.Passed || got.Verification.Samples == 0 {
		t.Errorf("%+v, %+v", got, got.Verification)
	}
}
