// Package conductortest runs conductors as processes of their own: each is the test binary, which a variable makes
// `ferrite serve`. Tests can freeze and kill them.
package conductortest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Patience bounds all waits: the machine may have much else to do.
const Patience = 3 * time.Minute

// Process is a conductor. It ends with the test's process, however that ends.
type Process struct {
	T       *testing.T
	Name    string
	Address string   // of its API, host:port
	Args    []string // of `ferrite serve`
	Log     string   // file that its output is appended to
	Profile string   // file of its CPU profile, which SIGUSR1 begins and ends; "" for none

	process *os.Process
	over    chan struct{}
}

// Start starts the conductor, and waits until it serves or forwards requests.
func (p *Process) Start() {
	p.T.Helper()
	p.launch()
	p.Ready()
}

func (p *Process) launch() {
	p.T.Helper()
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.T.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], p.Args...) //nolint:gosec // this binary
	cmd.Env = append(os.Environ(), serveVariable+"=1", profileVariable+"="+p.Profile)
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
			_ = cmd.Wait() // it is killed, or ends at a signal
			_ = log.Close()
		}
	}()
	if err := <-began; err != nil {
		p.T.Fatal(err)
	}
	p.process, p.over = cmd.Process, over
}

// Ready waits until the conductor serves or forwards requests. A conductor that ended because another one took over is
// started again, as a service manager does.
func (p *Process) Ready() {
	p.T.Helper()
	client := &http.Client{Timeout: 5 * time.Second}
	for end := time.Now().Add(Patience); ; time.Sleep(20 * time.Millisecond) {
		if p.Gone() {
			p.launch()
		}
		answer, err := client.Get("http://" + p.Address + "/readyz")
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
			err = fmt.Errorf("/readyz answers %s", answer.Status)
		}
		if time.Now().After(end) {
			p.T.Fatalf("%s is not ready: %v\n%s", p.Name, err, p.Tail())
		}
	}
}

// Signal sends a signal to the process.
func (p *Process) Signal(s syscall.Signal) {
	p.T.Helper()
	if err := p.process.Signal(s); err != nil {
		p.T.Fatalf("%s: %v\n%s", p.Name, err, p.Tail())
	}
}

// PID returns the id of the process that was started last.
func (p *Process) PID() int { return p.process.Pid }

// End waits until the process has ended.
func (p *Process) End() {
	p.T.Helper()
	select {
	case <-p.over:
	case <-time.After(Patience):
		p.T.Fatalf("%s does not end\n%s", p.Name, p.Tail())
	}
}

// Gone reports whether the process has ended, which a superseded conductor may do by itself.
func (p *Process) Gone() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

// Tail returns the end of its log.
func (p *Process) Tail() string {
	text, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}
