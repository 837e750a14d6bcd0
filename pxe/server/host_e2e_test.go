//go:build e2e

package server_test

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// neighbour is a host of its own on the bridge, with a network namespace that ends with its process.
type neighbour struct{ pid string }

// newNeighbour makes a host with an address of the boot network.
func newNeighbour(t *testing.T, address string) neighbour {
	t.Helper()
	n := newHost(t)
	lines(t,
		"ip link add nb"+n.pid+" type veth peer name eth0 netns "+n.pid,
		"ip link set nb"+n.pid+" master br0 up")
	n.lines(t, "ip link set lo up", "ip addr add "+address+" dev eth0", "ip link set eth0 up")
	return n
}

// newHost makes a host without any link.
func newHost(t *testing.T) neighbour {
	t.Helper()
	host := exec.CommandContext(t.Context(), "sleep", "infinity")
	host.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = host.Process.Kill()
		_ = host.Wait() // killed: its exit status says nothing
	})
	return neighbour{strconv.Itoa(host.Process.Pid)}
}

// lines runs commands, each a line of words without quotes.
func lines(t *testing.T, all ...string) {
	t.Helper()
	for _, line := range all {
		words := strings.Fields(line)
		if out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
}

// lines runs commands there.
func (n neighbour) lines(t *testing.T, all ...string) {
	t.Helper()
	for _, line := range all {
		lines(t, "nsenter -t "+n.pid+" -n "+line)
	}
}

// run runs a daemon there until the test ends.
func (n neighbour) run(t *testing.T, argv ...string) {
	t.Helper()
	d := exec.CommandContext(t.Context(), "nsenter", append([]string{"-t", n.pid, "-n"}, argv...)...)
	d.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	log := &serial{}
	d.Stdout, d.Stderr = log, log
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.Process.Kill()
		_ = d.Wait()
		if t.Failed() {
			t.Logf("%s:\n%s", argv[0], log)
		}
	})
}
