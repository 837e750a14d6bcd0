//go:build cluster

package history

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// patience bounds all waits: the machine may have much else to do.
const patience = 2 * time.Minute

// member is a conductor in a process of its own.
type member struct {
	t       *testing.T
	name    string
	role    string // its user of the database
	address string
	args    []string
	log     string
	network *network
	reached string // where other conductors reach it; nobody else uses this address
	process *os.Process
	over    chan struct{}
}

// newMember makes a conductor, which is not started yet.
func newMember(t *testing.T, name, database, key string) *member {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	m := &member{t: t, name: name, role: "member_" + name, address: freePort(t)}
	m.reached = "127.0.10." + strconv.Itoa(int(name[0]))
	m.log = filepath.Join(t.TempDir(), name+".log")
	m.network, u = newNetwork(t, u)
	u.User = url.User(m.role)
	m.args = []string{
		"--database", u.String(), "--cluster-key-file", key, "--host", name, "--data-dir", filepath.Join(t.TempDir(), name),
		"--api-address", m.address, "--auth", "none", "--boot=false", "--hardware-types", "fake-hardware,redfish",
		"--bmc-allow", "127.0.0.0/8", "--registry-allow", "127.0.0.0/8", "--agent-allow", "127.0.0.0/8",
		"--sync-power-state-interval", "10s", "--agent-require-tls=false", "--cluster-address", m.reached + ":6386",
	}
	return m
}

// freePort is an address that nobody listens at, so that a conductor that is started again has the same.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start starts the conductor, and waits until it can serve or forward.
func (m *member) start() {
	m.t.Helper()
	log, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		m.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], m.args...)
	cmd.Env = append(os.Environ(), memberVariable+"=1")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	over, began := make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread() // Pdeathsig is of the thread that starts a process
		defer runtime.UnlockOSThread()
		defer close(over)
		err := cmd.Start()
		began <- err
		if err == nil {
			_ = cmd.Wait() // it is killed, or ends as it was told
			_ = log.Close()
		}
	}()
	if err := <-began; err != nil {
		m.t.Fatal(err)
	}
	m.process, m.over = cmd.Process, over
	m.ready()
}

// ready waits until the conductor can serve or forward. One that ended because another conductor took over is started
// again, as a service manager does.
func (m *member) ready() {
	m.t.Helper()
	client := &http.Client{Timeout: 5 * time.Second}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if m.gone() {
			m.start()
			return
		}
		answer, err := client.Get("http://" + m.address + "/readyz")
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
			err = fmt.Errorf("/readyz answers %s", answer.Status)
		}
		if time.Now().After(end) {
			m.t.Fatalf("%s is not ready: %v\n%s", m.name, err, m.tail())
		}
	}
}

func (m *member) signal(s syscall.Signal) {
	m.t.Helper()
	if err := m.process.Signal(s); err != nil {
		m.t.Fatalf("%s: %v\n%s", m.name, err, m.tail())
	}
}

// end waits until the process has ended.
func (m *member) end() {
	m.t.Helper()
	select {
	case <-m.over:
	case <-time.After(patience):
		m.t.Fatalf("%s does not end\n%s", m.name, m.tail())
	}
}

// gone reports whether the process has ended, which a superseded conductor may do by itself.
func (m *member) gone() bool {
	select {
	case <-m.over:
		return true
	default:
		return false
	}
}

// tail is the end of its log.
func (m *member) tail() string {
	text, err := os.ReadFile(m.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}
