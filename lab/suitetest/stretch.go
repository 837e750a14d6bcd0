package suitetest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Stretch is a limit on a machine that has other work: the one given up to four runnable threads for each processor, as
// beside two busy loops on two of them, and longer in proportion above that. The load is the last minute's.
func Stretch(t testing.TB, limit time.Duration) time.Duration {
	t.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Fatal(err)
	}
	stretched, err := stretch(limit, string(text), runtime.NumCPU())
	if err != nil {
		t.Fatal(err)
	}
	return stretched
}

// stretch reads a load as in proc(5), loadavg.
func stretch(limit time.Duration, text string, processors int) (time.Duration, error) {
	var load float64
	if _, err := fmt.Fscan(strings.NewReader(text), &load); err != nil {
		return 0, fmt.Errorf("load of this machine %q: %w", text, err)
	}
	return time.Duration(float64(limit) * max(1, load/float64(4*processors))), nil
}
