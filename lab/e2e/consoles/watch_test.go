//go:build consoletest

package consoles

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/lab/e2e/guest"
	"github.com/ferrite-metal/ferrite/lab/ipmitest"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole"
	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

const (
	user     = ipmitest.User // of both BMCs
	password = ipmitest.Password
	limit    = 25 * time.Minute // for the whole boot, under emulation and beside other work
)

// screen is the output of one client of a console.
type screen struct {
	name string
	keys io.Writer

	mu    sync.Mutex
	text  bytes.Buffer
	ended error
	over  bool
}

func (s *screen) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(data)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// until waits for a text, and answers when it was there.
func (s *screen) until(t *testing.T, text string) time.Time {
	t.Helper()
	return s.untilTimes(t, text, 1)
}

// untilTimes waits until a text was there several times.
func (s *screen) untilTimes(t *testing.T, text string, times int) time.Time {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if strings.Count(s.String(), text) >= times {
			return time.Now()
		}
		s.mu.Lock()
		over, err := s.over, s.ended
		s.mu.Unlock()
		if over {
			t.Fatalf("%s: the console ended before %q: %v\n%s", s.name, text, err, s)
		}
	}
	t.Fatalf("%s: no %q within %s:\n%s", s.name, text, limit, s)
	return time.Time{}
}

// watch runs ferrite node console.
func watch(t *testing.T, c *servetest.Conductor, name string, args ...string) *screen {
	t.Helper()
	keys, typed := io.Pipe()
	s := &screen{name: name, keys: typed}
	console := cli.New("test")
	console.SetArgs(append([]string{"node", "console", name, "--url", c.URL}, args...))
	console.SetIn(keys)
	console.SetOut(s)
	console.SetErr(s)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := console.ExecuteContext(ctx)
		s.mu.Lock()
		s.ended, s.over = err, true
		s.mu.Unlock()
	}()
	t.Cleanup(func() { cancel(); typed.Close(); <-done })
	return s
}

// redfishBMC is the lab's, with its SSH server; both answer on loopback.
func redfishBMC(t *testing.T, m *qemu.Machine) (url string) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	personality, err := redfish.FindPersonality("ilo6")
	if err != nil {
		t.Fatal(err)
	}
	console, err := sshconsole.New(sshconsole.Config{Line: m.Serial(), User: user, Password: password,
		CLI: personality.ConsoleCLI(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	l := listen(t)
	done := make(chan struct{})
	go func() { defer close(done); _ = console.Serve(l) }()
	bmc := redfish.New(redfish.Config{Machine: m, Username: user, Password: password,
		Personality: personality, SSHPort: l.Addr().(*net.TCPAddr).Port, Log: log})
	server := httptest.NewServer(bmc)
	t.Cleanup(func() {
		l.Close()
		console.Close()
		<-done
		bmc.Close()
		server.Close()
	})
	return server.URL
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// ipmiBMC is OpenIPMI's ipmi_sim with the machine's serial line.
func ipmiBMC(t *testing.T, m *qemu.Machine) (port int) {
	t.Helper()
	line := listen(t)
	t.Cleanup(func() { line.Close() })
	go func() {
		for {
			c, err := line.Accept()
			if err != nil {
				return
			}
			go join(m.Serial(), c)
		}
	}()
	return ipmitest.Start(t, fmt.Sprintf("  sol \"tcp:127.0.0.1:%d\" 115200", line.Addr().(*net.TCPAddr).Port), "").Port
}

// join connects a serial line with a connection until that ends.
func join(s *qemu.Serial, c net.Conn) {
	defer c.Close()
	output := make(chan []byte, 4096)
	stop := s.Watch(func(data []byte) {
		select {
		case output <- bytes.Clone(data):
		default:
		}
	})
	defer stop()
	gone := make(chan struct{})
	go func() { defer close(gone); _, _ = io.Copy(s, c) }()
	for {
		select {
		case data := <-output:
			if _, err := c.Write(data); err != nil {
				return
			}
		case <-gone:
			return
		}
	}
}

// TestConsoles: from the power button to a login with input. The machine has no network card: of the time to the login
// systemd waits for a network two minutes.
func TestConsoles(t *testing.T) {
	suitetest.Need(t, "")
	m := guest.Debian(t, qemu.Spec{Name: "watched"})
	url, port := redfishBMC(t, m), ipmiBMC(t, m)
	c := servetest.Start(t, serve.Command(), filepath.Join(t.TempDir(), "data"), "--auth", "none", "--boot=false")
	defer c.End(t)
	c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "redfish", "name": "by-ssh", "driver_info": map[string]any{
		"redfish_address": url, "redfish_username": user, "redfish_password": password}}, 201)
	c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "ipmi", "name": "by-sol", "driver_info": map[string]any{
		"ipmi_address": "127.0.0.1", "ipmi_port": port, "ipmi_username": user, "ipmi_password": password}}, 201)
	screens := []*screen{watch(t, c, "by-ssh"), watch(t, c, "by-sol")}
	for _, s := range screens {
		s.until(t, "The console is connected.")
	}
	began := time.Now()
	c.Call(t, "PUT", "/v1/nodes/by-ssh/states/power", map[string]any{"target": "power on"}, 202)
	firmware, login := map[string]time.Duration{}, map[string]time.Duration{}
	for _, s := range screens {
		firmware[s.name] = s.until(t, "BdsDxe: starting Boot").Sub(began)
	}
	for _, s := range screens {
		login[s.name] = s.until(t, " login: ").Sub(began)
	}
	for i, s := range screens { // each types, both see it
		s.untilTimes(t, " login: ", i+1) // earlier input is dropped
		fmt.Fprintf(s.keys, "nobody-%d\r", i)
		for _, other := range screens {
			other.until(t, fmt.Sprintf("nobody-%d", i))
			other.untilTimes(t, "assword:", i+1)
		}
		fmt.Fprint(s.keys, "wrong\r")
		for _, other := range screens {
			other.untilTimes(t, "Login incorrect", i+1)
		}
	}
	for _, s := range screens {
		if strings.Contains(s.String(), "has lost output") {
			t.Errorf("%s: output was lost:\n%s", s.name, s)
		}
	}
	fmt.Printf("console-test: ok firmware after %.1f s by SSH and %.1f s by serial over LAN, login after %.1f s "+
		"and %.1f s\n",
		firmware["by-ssh"].Seconds(), firmware["by-sol"].Seconds(), login["by-ssh"].Seconds(), login["by-sol"].Seconds())
}
