package rescue

import (
	"fmt"
	"syscall"

	"golang.org/x/crypto/ssh"
)

// The payloads of a session's requests and of its end (RFC 4254, 6.2 to 6.10). The terminal modes of a pty-req are
// ignored: every shell expects a new terminal's.
type (
	ptyRequest struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}
	windowChange  struct{ Columns, Rows, Width, Height uint32 }
	envRequest    struct{ Name, Value string }
	execRequest   struct{ Command string }
	signalRequest struct{ Name string }
	exitStatus    struct{ Status uint32 }
	exitSignal    struct {
		Name       string
		CoreDumped bool
		Message    string
		Language   string
	}
)

// read takes a payload apart.
func read[T any](payload []byte) (T, error) {
	var v T
	err := ssh.Unmarshal(payload, &v)
	return v, err
}

// signals are those a client can name (RFC 4254, 6.10).
func signals() map[string]syscall.Signal {
	return map[string]syscall.Signal{
		"ABRT": syscall.SIGABRT, "ALRM": syscall.SIGALRM, "FPE": syscall.SIGFPE, "HUP": syscall.SIGHUP, "ILL": syscall.SIGILL,
		"INT": syscall.SIGINT, "KILL": syscall.SIGKILL, "PIPE": syscall.SIGPIPE, "QUIT": syscall.SIGQUIT,
		"SEGV": syscall.SIGSEGV,
		"TERM": syscall.SIGTERM, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2,
	}
}

// signalName is the inverse. A signal without a name is sent by its number, as a
// private name that the RFC allows.
func signalName(s syscall.Signal) string {
	for name, known := range signals() {
		if known == s {
			return name
		}
	}
	return fmt.Sprintf("SIG%d@ferrite", int(s))
}

// maxEnv and maxEnvSize bound a client's additions to the environment.
const (
	maxEnv     = 64
	maxEnvSize = 4096 // of one
)

// variable is "NAME=value" where the name is one a shell can use.
func (r envRequest) variable() (string, error) {
	valid := r.Name != ""
	for i, c := range []byte(r.Name) {
		letter := c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		valid = valid && (letter || i > 0 && c >= '0' && c <= '9')
	}
	for _, c := range []byte(r.Value) {
		valid = valid && c != 0
	}
	if !valid || len(r.Name)+len(r.Value) > maxEnvSize {
		return "", fmt.Errorf("environment variable %.40q is not taken: expected a name of letters, "+
			"digits and _ and at most %d bytes", r.Name, maxEnvSize)
	}
	return r.Name + "=" + r.Value, nil
}
