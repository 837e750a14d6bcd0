package rescue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/crypto/ssh"
)

// session is one channel: requests prepare it, one of them starts a program,
// and it ends when that does.
type session struct {
	*Server
	channel  ssh.Channel
	log      *slog.Logger
	env      []string
	pty      *os.File      // nil: without a terminal
	tty      *os.File      // the program's side
	pipes    []*os.File    // without a terminal: both ends of the program's output
	cmd      *exec.Cmd     // nil before it is started
	answered chan struct{} // closed when the answer was sent to the client
	ended    chan struct{} // closed with the program

	mu  sync.Mutex
	pid int // of the program; 0 before it runs and after its end
}

func newSession(s *Server, channel ssh.Channel, log *slog.Logger) *session {
	return &session{Server: s, channel: channel, log: log, env: append([]string(nil), s.Env...),
		answered: make(chan struct{}), ended: make(chan struct{})}
}

// handlers has every request that a session supports. Others are refused, subsystems
// (sftp) among them.
func (s *session) handlers(ctx context.Context) map[string]func(payload []byte) error {
	return map[string]func([]byte) error{
		"pty-req":       s.openPTY,
		"window-change": s.changeWindow,
		"env":           s.setEnv,
		"signal":        s.signal,
		"shell":         func([]byte) error { return s.start(exec.CommandContext(ctx, s.Shell)) },
		"exec": func(payload []byte) error {
			r, err := read[execRequest](payload)
			if err != nil {
				return err
			}
			s.log.Info("command by ssh")
			return s.start(exec.CommandContext(ctx, s.Shell, "-c", r.Command))
		},
	}
}

// serve answers requests until the program or the client is gone.
func (s *session) serve(ctx context.Context, requests <-chan *ssh.Request) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	handlers := s.handlers(ctx)
	for r := range requests {
		before := s.started()
		err := fmt.Errorf("request %q is not known", r.Type)
		if handle := handlers[r.Type]; handle != nil {
			err = handle(r.Payload)
		}
		if err != nil {
			s.log.Debug("ssh request refused", "err", err)
		}
		if r.WantReply {
			_ = r.Reply(err == nil, nil) // the client may be gone
		}
		if s.started() && !before {
			close(s.answered)
		}
	}
	cancel()     // ends the program, if it still runs
	s.closeAll() // a process left on the terminal or a pipe must not hold the session
	if s.started() {
		<-s.ended
	}
	_ = s.channel.Close() // closed already when the program ended first
}

func (s *session) openPTY(payload []byte) error {
	r, err := read[ptyRequest](payload)
	if err != nil {
		return err
	}
	if s.pty != nil || s.started() {
		return errors.New("pty-req: there is a terminal, or a program without one")
	}
	if s.pty, s.tty, err = s.Kernel.OpenPTY(); err != nil {
		s.log.Warn("no terminal for ssh", "err", err)
		return err
	}
	if term, err := (envRequest{"TERM", r.Term}).variable(); err == nil && r.Term != "" {
		s.env = append(s.env, term)
	}
	return s.setWindow(r.Columns, r.Rows)
}

func (s *session) changeWindow(payload []byte) error {
	r, err := read[windowChange](payload)
	if err != nil {
		return err
	}
	return s.setWindow(r.Columns, r.Rows)
}

// setWindow sets the terminal's size, and so signals the program (SIGWINCH).
func (s *session) setWindow(columns, rows uint32) error {
	if s.pty == nil {
		return errors.New("window-change: the session has no terminal")
	}
	const most = 1<<16 - 1
	return s.Kernel.SetWindow(s.pty, uint16(min(columns, most)), uint16(min(rows, most)))
}

func (s *session) setEnv(payload []byte) error {
	r, err := read[envRequest](payload)
	if err != nil {
		return err
	}
	v, err := r.variable()
	if err == nil && len(s.env) >= len(s.Env)+maxEnv {
		err = fmt.Errorf("more than %d environment variables", maxEnv)
	}
	if err == nil {
		s.env = append(s.env, v)
	}
	return err
}

func (s *session) signal(payload []byte) error {
	r, err := read[signalRequest](payload)
	if err != nil {
		return err
	}
	sig, known := signals()[strings.TrimPrefix(r.Name, "SIG")]
	s.mu.Lock()
	defer s.mu.Unlock()
	if !known || s.pid == 0 {
		return fmt.Errorf("signal %.20q: it is unknown, or no program runs", r.Name)
	}
	return s.Kernel.SignalSession(s.pid, sig)
}

// start runs the session's one program.
func (s *session) start(cmd *exec.Cmd) error {
	if s.started() {
		return errors.New("a session runs one program only")
	}
	cmd.Dir, cmd.Env = "/", s.env
	cmd.Cancel = func() error { return s.Kernel.SignalSession(cmd.Process.Pid, syscall.SIGHUP) }
	cmd.WaitDelay = hangupTime // does not cut the program's output: its pipes are ours
	pump, err := s.connect(cmd)
	if err == nil {
		err = s.Programs.Start(cmd)
	}
	if err != nil {
		s.log.Warn("program not started by ssh", "program", cmd.Path, "err", err)
		return err
	}
	s.mu.Lock()
	s.pid = cmd.Process.Pid
	s.mu.Unlock()
	s.cmd = cmd
	drained := pump()
	go func() { // ends with the program, which ends with its client
		defer close(s.ended)
		err := s.Programs.Wait(cmd)
		s.mu.Lock()
		s.pid = 0
		s.mu.Unlock()
		<-drained
		<-s.answered // a client that sees the end first takes the request for refused
		s.report(cmd, err)
	}()
	return nil
}

func (s *session) started() bool { return s.cmd != nil }

// connect joins cmd and the channel. The function it returns begins to copy bytes. It
// returns a channel that is closed once all output of the program is sent.
func (s *session) connect(cmd *exec.Cmd) (pump func() <-chan struct{}, err error) {
	if s.pty == nil {
		return s.connectPipes(cmd)
	}
	drained := make(chan struct{})
	s.Kernel.OnTerminal(cmd, s.tty)
	return func() <-chan struct{} {
		_ = s.tty.Close() // the program has its own; while we had one, its end could not be seen
		go func() {       // ends with the channel or the terminal
			_, _ = io.Copy(s.pty, s.channel) // as above
			_, _ = s.pty.Write([]byte{4})    // the client says no more: Ctrl-D
		}()
		go func() { // ends with the last program on the terminal
			defer close(drained)
			_, _ = io.Copy(s.channel, s.pty) // EIO is how a terminal ends
		}()
		return drained
	}, nil
}

// connectPipes is connect without a terminal.
func (s *session) connectPipes(cmd *exec.Cmd) (pump func() <-chan struct{}, err error) {
	s.Kernel.OnPipes(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, stdout, err := s.pipe()
	if err != nil {
		return nil, err
	}
	errs, stderr, err := s.pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return func() <-chan struct{} {
		drained := make(chan struct{})
		_, _ = stdout.Close(), stderr.Close() // the program has its own; while we had one, its end could not be seen
		go func() {                           // ends with the channel or the program
			_, _ = io.Copy(stdin, s.channel) // nothing reads the program's input any more
			_ = stdin.Close()                // as above
		}()
		go func() { // ends with the last program that has the pipes, or with the client
			defer close(drained)
			var both sync.WaitGroup
			both.Go(func() { _, _ = io.Copy(s.channel.Stderr(), errs) }) // as above
			_, _ = io.Copy(s.channel, out)                               // as above
			both.Wait()
		}()
		return drained
	}, nil
}

// pipe makes a pipe that ends with the session.
func (s *session) pipe() (from, to *os.File, err error) {
	from, to, err = os.Pipe()
	if err == nil {
		s.pipes = append(s.pipes, from, to)
	}
	return from, to, err
}

// report sends the client the program's exit status, and closes the channel.
func (s *session) report(cmd *exec.Cmd, err error) {
	name, payload := "exit-status", ssh.Marshal(exitStatus{255})
	if state := cmd.ProcessState; state != nil {
		status, _ := state.Sys().(syscall.WaitStatus)
		payload = ssh.Marshal(exitStatus{uint32(status.ExitStatus())})
		if status.Signaled() {
			name, payload = "exit-signal", ssh.Marshal(exitSignal{Name: signalName(status.Signal()),
				CoreDumped: status.CoreDump()})
		}
	}
	s.log.Debug("program by ssh ended", "err", err)
	_, _ = s.channel.SendRequest(name, false, payload) // the client may be gone
	_ = s.channel.Close()                              // as above
}

// closeAll closes the terminal and the pipes.
func (s *session) closeAll() {
	if s.pty != nil {
		_ = s.pty.Close() // a terminal
		_ = s.tty.Close() // closed already when a program was started
	}
	for _, end := range s.pipes {
		_ = end.Close() // as above, the program's ends
	}
}
