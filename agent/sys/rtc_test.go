package sys

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
)

func TestReadRTC(t *testing.T) {
	at, err := (Linux{}).ReadRTC()
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, os.ErrPermission):
		t.Skipf("no RTC here: %v", err)
	case err != nil:
		t.Fatal(err)
	case time.Since(at).Abs() > 26*time.Hour: // a host's may be in local time
		t.Errorf("the RTC says %v", at)
	}
}

func TestKernelBuilt(t *testing.T) {
	if v := (Linux{}).KernelBuilt(); !strings.HasPrefix(v, "#") {
		t.Errorf("version %q", v)
	}
}
