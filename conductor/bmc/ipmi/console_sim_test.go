package ipmi_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/bmctest"
	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
	"github.com/ferrite-metal/ferrite/conductor/bmc/sol"
)

// serialLine is a machine's serial line: it greets, and repeats its input.
func serialLine(t *testing.T) (port int) {
	t.Helper()
	return bmctest.Listen(t, func(c net.Conn) { _, _ = io.Copy(c, c) }).Port
}

func readUntil(t *testing.T, r io.Reader, want string) {
	t.Helper()
	got, buf := "", make([]byte, 4096)
	for !strings.Contains(got, want) {
		n, err := r.Read(buf)
		got += string(buf[:n])
		if err != nil {
			t.Fatalf("read %q, want %q: %v", got, want, err)
		}
	}
}

// TestConsoleSim: typing comes back, another session is refused, takes over, and gives back.
func TestConsoleSim(t *testing.T) {
	t.Parallel()
	s := newSimWith(t, fmt.Sprintf(`  sol "tcp:127.0.0.1:%d" 115200`, serialLine(t)))
	d := ipmi.New(ipmi.Options{})
	defer d.Close()
	n := s.node()
	n.Interfaces = map[string]string{"console": "ipmitool-socat"}
	if err := d.ValidateConsole(n); err != nil {
		t.Fatal(err)
	}
	first, err := d.OpenConsole(t.Context(), n, false)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("0123456789", 60) + "|end"
	if _, err := first.Write([]byte(long)); err != nil {
		t.Fatal(err)
	}
	readUntil(t, first, long)
	if _, err := d.OpenConsole(t.Context(), n, false); err == nil || !strings.Contains(err.Error(), "another session") {
		t.Errorf("a second console: %v", err)
	}
	second, err := d.OpenConsole(t.Context(), n, true)
	if err != nil {
		t.Fatalf("taken over: %v", err)
	}
	if _, err := first.Write([]byte("nobody reads this")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(first); !errors.Is(err, sol.ErrSilent) && !errors.Is(err, sol.ErrDeactivated) {
		t.Errorf("the first ended: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Errorf("closing the first: %v", err)
	}
	if _, err := second.Write([]byte("again|")); err != nil {
		t.Fatal(err)
	}
	readUntil(t, second, "again|")
	if err := second.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	third, err := d.OpenConsole(t.Context(), n, false)
	if err != nil {
		t.Fatalf("after it was given back: %v", err)
	}
	s.Stop() // a BMC that is gone
	start := time.Now()
	_, _ = third.Write([]byte("x"))
	if _, err := io.ReadAll(third); err == nil || time.Since(start) > 8*time.Second {
		t.Errorf("a BMC that is gone: %v after %v", err, time.Since(start))
	}
	_ = third.Close()
}

// TestConsoleWithoutSOL: a BMC without serial over LAN says so.
func TestConsoleWithoutSOL(t *testing.T) {
	s := newSim(t)
	d := ipmi.New(ipmi.Options{})
	defer d.Close()
	c, err := d.OpenConsole(t.Context(), s.node(), false)
	if err == nil {
		c.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "serial over LAN") {
		t.Errorf("%v", err)
	}
}
