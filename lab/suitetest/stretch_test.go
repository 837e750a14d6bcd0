package suitetest

import (
	"testing"
	"time"
)

// TestStretch: a limit holds as it is until the machine has more to do than it was made for.
func TestStretch(t *testing.T) {
	for load, want := range map[string]time.Duration{
		"0.00": time.Minute, "8.00": time.Minute, "16.00": 2 * time.Minute, "40.00": 5 * time.Minute,
	} {
		if got, err := stretch(time.Minute, load+" 1.00 1.00 3/400 1234\n", 2); err != nil || got != want {
			t.Errorf("at a load of %s: %s, %v; want %s", load, got, err, want)
		}
	}
	if _, err := stretch(time.Minute, "busy", 2); err == nil {
		t.Error("a load without a number is taken")
	}
}
