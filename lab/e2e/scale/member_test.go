//go:build e2e

package scale

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds all waits: the machine may have much else to do.
const patience = 3 * time.Minute

// member is a conductor in a process of its own.
type member struct {
	t       *testing.T
	name    string
	address string
	args    []string
	dir     string
	process *os.Process
	over    chan struct{}
}

func newMember(t *testing.T, nth int, database, key string, more []string) *member {
	t.Helper()
	name := string(rune('a' + nth))
	m := &member{t: t, name: name, address: fmt.Sprintf("0.0.0.0:%d", 16385+nth), dir: t.TempDir()}
	m.args = append([]string{
		"--database", database, "--cluster-key-file", key, "--host", name, "--data-dir", m.data(),
		"--api-address", m.address, "--cluster-address", fmt.Sprintf("127.0.0.1:%d", 16485+nth), "--auth", "none",
		"--allow-anybody", "--hardware-types", "redfish", "--bmc-allow", "127.0.0.0/8", "--agent-allow", "127.0.0.0/8",
		"--agent-require-tls=false", "--fast-track-idle", "0", "--log-level", "warn",
	}, more...)
	m.address = strings.Replace(m.address, "0.0.0.0", "127.0.0.1", 1)
	return m
}

func (m *member) data() string    { return filepath.Join(m.dir, "data") }
func (m *member) log() string     { return filepath.Join(m.dir, "log") }
func (m *member) profile() string { return filepath.Join(m.dir, "profile") }
func (m *member) url() string     { return "http://" + m.address }

// start starts the conductor, and waits until it can serve or forward.
func (m *member) start() {
	m.t.Helper()
	log, err := os.OpenFile(m.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		m.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], m.args...) //nolint:gosec // this binary
	cmd.Env = append(os.Environ(), memberVariable+"="+m.profile())
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

func (m *member) ready() {
	m.t.Helper()
	client := &http.Client{Timeout: 5 * time.Second}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		answer, err := client.Get(m.url() + "/readyz")
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
			err = fmt.Errorf("/readyz answers %s", answer.Status)
		}
		if time.Now().After(end) || m.gone() {
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
	text, err := os.ReadFile(m.log())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// call makes one request, and reads its answer.
func (m *member) call(client *http.Client, method, path string, body, answer any) (status int, err error) {
	return call(client, method, m.url()+path, body, answer)
}

func call(client *http.Client, method, url string, body, answer any) (status int, err error) {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		sent = strings.NewReader(string(raw))
	}
	q, err := http.NewRequest(method, url, sent)
	if err != nil {
		return 0, err
	}
	q.Header.Set("X-OpenStack-Ironic-API-Version", "latest")
	q.Header.Set("Content-Type", "application/json")
	a, err := client.Do(q)
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(a.Body)
	if err = errors.Join(err, a.Body.Close()); err != nil {
		return 0, err
	}
	if a.StatusCode/100 != 2 {
		return a.StatusCode, fmt.Errorf("%s %s answers %d: %.300s", method, url, a.StatusCode, text)
	}
	if answer != nil {
		err = json.Unmarshal(text, answer)
	}
	return a.StatusCode, err
}
