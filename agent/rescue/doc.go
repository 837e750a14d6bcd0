// Package rescue lets people into a machine: an SSH server for the one user rescue and
// the one password the conductor sent, or for the user root and the keys that a ramdisk
// was built with; with a shell or single commands, on a terminal or without.
//
// It must not know of conductors or nodes, and keeps no password in clear: a
// plain one is hashed at once and only ever compared by its hash.
package rescue

import (
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// User is the only user that can log in with the password, as in ironic-python-agent's ramdisks.
const User = "rescue"

// Kernel has the calls of the kernel that sessions need.
type Kernel interface {
	// OpenPTY makes a pair of terminals: bytes written to one are read from the other.
	// The program gets tty.
	OpenPTY() (pty, tty *os.File, err error)
	SetWindow(pty *os.File, columns, rows uint16) error
	// OnTerminal and OnPipes make cmd the leader of a session of its own.
	OnTerminal(cmd *exec.Cmd, tty *os.File)
	OnPipes(cmd *exec.Cmd)
	// SignalSession signals the programs of the session that pid leads.
	SignalSession(pid int, s syscall.Signal) error
}

// Programs starts programs and waits for them. Process 1 reaps all dead processes, and
// must know which exit status has a reader.
type Programs interface {
	Start(cmd *exec.Cmd) error
	Wait(cmd *exec.Cmd) error
}

// Options are the parts of a Server.
type Options struct {
	Password Password        // of User; the zero Password refuses all
	Keys     []ssh.PublicKey // of Operator
	Kernel   Kernel
	Programs Programs
	Shell    string   // path of a shell that takes -c COMMAND
	Env      []string // of programs, as KEY=value
	Log      *slog.Logger
	// Pause follows a wrong password before the answer; 2 s when 0.
	Pause time.Duration
}

// Limits of a server: an attacker can keep it no busier than this.
const (
	maxOpen       = 32               // connections, logged in or not
	maxStarting   = 16               // of them not logged in
	maxPerAddress = 4                // of those from one address
	maxTries      = 3                // passwords on one connection
	maxSessions   = 10               // on one connection, as OpenSSH
	loginTime     = 60 * time.Second // to log in
	defaultPause  = 2 * time.Second
	hangupTime    = 5 * time.Second // a program has to end after its client left
)
