package sys

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
)

// TestFollowKernelLog: all there is comes before it is said to have come, and
// the end of the context ends the waiting for more.
func TestFollowKernelLog(t *testing.T) {
	if f, err := os.Open("/dev/kmsg"); err == nil {
		f.Close()
	} else if os.Geteuid() != 0 || errors.Is(err, fs.ErrNotExist) { // containers have none
		t.Skipf("the kernel's log cannot be read here: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var records, before int
	err := Linux{}.FollowKernelLog(ctx, func([]byte) { records++ }, func() {
		before = records
		cancel()
	})
	if !errors.Is(err, context.Canceled) || before == 0 {
		t.Errorf("ended with %v after %d records", err, before)
	}
}
