package rescue

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// programs starts processes itself: the tests are not process 1.
type programs struct{}

func (programs) Start(cmd *exec.Cmd) error { return cmd.Start() }
func (programs) Wait(cmd *exec.Cmd) error  { return cmd.Wait() }

// syncBuffer is a log that can be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// serve runs a server on the loopback until the test ends.
func serve(t *testing.T) (*Server, *syncBuffer) {
	t.Helper()
	password, err := NewPassword(sha256s, true)
	if err != nil {
		t.Fatal(err)
	}
	log := &syncBuffer{}
	s, err := Listen(t.Context(), "127.0.0.1:0", Options{
		Password: password, Kernel: sys.Linux{}, Programs: programs{}, Shell: "/bin/sh",
		Env: []string{"PATH=/usr/bin:/bin", "HOME=/"},
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Pause: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the server ended with %v", err)
		}
		if strings.Contains(log.String(), hello) {
			t.Errorf("the password is in the log:\n%s", log)
		}
	})
	return s, log
}

func dial(s *Server, user, password string) (*ssh.Client, error) {
	return ssh.Dial("tcp", s.Address().String(), &ssh.ClientConfig{
		User: user, Auth: []ssh.AuthMethod{ssh.Password(password)}, HostKeyCallback: ssh.FixedHostKey(s.key.PublicKey()),
		Timeout: 30 * time.Second,
	})
}

// login is a client that is logged in, and one session of it.
func login(t *testing.T, s *Server) (*ssh.Client, *ssh.Session) {
	t.Helper()
	c, err := dial(s, User, hello)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	session, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	return c, session
}

func TestWhoMayLogIn(t *testing.T) {
	s, log := serve(t)
	for _, tc := range []struct{ user, password string }{{User, "wrong"}, {"root", hello}, {User, ""}} {
		if c, err := dial(s, tc.user, tc.password); err == nil {
			c.Close()
			t.Errorf("%s was let in with %q", tc.user, tc.password)
		}
	}
	if n := strings.Count(log.String(), "wrong user or password by ssh"); n != 3 {
		t.Errorf("%d refusals in the log, want 3:\n%s", n, log)
	}
	c, _ := login(t, s)
	if v := string(c.ServerVersion()); v != "SSH-2.0-ferrite" || !strings.HasPrefix(s.Fingerprint(), "SHA256:") {
		t.Errorf("server %s with key %s", v, s.Fingerprint())
	}
}

// TestTriesAreBounded: a connection has three guesses.
func TestTriesAreBounded(t *testing.T) {
	s, log := serve(t)
	guesses := 0
	_, err := ssh.Dial("tcp", s.Address().String(), &ssh.ClientConfig{
		User: User, HostKeyCallback: ssh.FixedHostKey(s.key.PublicKey()),
		Auth: []ssh.AuthMethod{ssh.RetryableAuthMethod(ssh.PasswordCallback(func() (string,
			error) {
			guesses++
			return "guess", nil
		}), 100)},
	})
	if err == nil || strings.Count(log.String(), "wrong user or password by ssh") != maxTries {
		t.Errorf("%d guesses sent, %v; the log:\n%s", guesses, err, log)
	}
}

func TestExec(t *testing.T) {
	s, _ := serve(t)
	for _, tc := range []struct {
		command, stdin, stdout, stderr string
		status                         int
		signal                         string
	}{
		{command: "echo out; echo err >&2; exit 7", stdout: "out\n", stderr: "err\n", status: 7},
		{command: "cat", stdin: "all of it", stdout: "all of it"},
		{command: "pwd; echo $HOME $LANG", stdout: "/\n/ C.UTF-8\n"},
		{command: "kill -TERM $$", signal: "TERM"},
		{command: "no-such-command 2>/dev/null", status: 127},
	} {
		t.Run(tc.command, func(t *testing.T) {
			_, session := login(t, s)
			var stdout, stderr bytes.Buffer
			session.Stdin, session.Stdout, session.Stderr = strings.NewReader(tc.stdin), &stdout, &stderr
			if err := session.Setenv("LANG", "C.UTF-8"); err != nil {
				t.Fatal(err)
			}
			err := session.Run(tc.command)
			var exit *ssh.ExitError
			if tc.status == 0 && tc.signal == "" && err != nil || (tc.status != 0 || tc.signal != "") && !errors.As(err, &exit) {
				t.Fatalf("ended with %v", err)
			}
			if exit != nil && (tc.signal == "" && exit.ExitStatus() != tc.status || exit.Signal() != tc.signal) {
				t.Errorf("status %d, signal %q", exit.ExitStatus(), exit.Signal())
			}
			if stdout.String() != tc.stdout || stderr.String() != tc.stderr {
				t.Errorf("stdout %q, stderr %q", stdout.String(), stderr.String())
			}
		})
	}
}

// until reads until text was seen.
func until(t *testing.T, r io.Reader, text string) string {
	t.Helper()
	var seen []byte
	buf := make([]byte, 1024)
	for !bytes.Contains(seen, []byte(text)) {
		n, err := r.Read(buf)
		seen = append(seen, buf[:n]...)
		if err != nil {
			t.Fatalf("%v before %q was seen in %q", err, text, seen)
		}
	}
	return string(seen)
}

// TestTerminal is a person at a shell: the terminal has the size asked for, a
// new size arrives, Ctrl-C interrupts, and the end has the shell's status.
func TestTerminal(t *testing.T) {
	s, _ := serve(t)
	_, session := login(t, s)
	in, err := session.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := session.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := session.RequestPty("xterm-256color", 40, 100, ssh.TerminalModes{ssh.ECHO: 1}); err != nil {
		t.Fatal(err)
	}
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	say := func(line string) {
		t.Helper()
		if _, err := io.WriteString(in, line); err != nil {
			t.Fatal(err)
		}
	}
	say("stty size; echo term=$TERM; tty\n")
	if got := until(t, out, "/dev/pts/"); !strings.Contains(got, "40 100") ||
		!strings.Contains(got, "term=xterm-256color") {
		t.Errorf("the terminal is %q", got)
	}
	if err := session.WindowChange(50, 132); err != nil {
		t.Fatal(err)
	}
	// The size and the input take two ways: a busy machine may read the line first.
	say("until stty size | grep '50 132'; do sleep 0.1; done; echo si''zed\n")
	until(t, out, "sized")
	say("sh -c 'echo run\"\"ning; exec sleep 1000'\n") // the terminal echoes the input before anything runs
	until(t, out, "running")
	say("\x03")
	say("echo in''terrupted\n")
	until(t, out, "interrupted")
	say("exit 3\n")
	var exit *ssh.ExitError
	if err := session.Wait(); !errors.As(err, &exit) || exit.ExitStatus() != 3 {
		t.Errorf("the shell ended with %v", err)
	}
}

// TestSignal: a client's signal reaches the process.
func TestSignal(t *testing.T) {
	s, _ := serve(t)
	_, session := login(t, s)
	out, err := session.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Start("trap 'echo caught; exit 9' USR1; echo ready; while :; do sleep 0.01; done"); err != nil {
		t.Fatal(err)
	}
	until(t, out, "ready")
	if err := session.Signal(ssh.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	until(t, out, "caught")
	var exit *ssh.ExitError
	if err := session.Wait(); !errors.As(err, &exit) || exit.ExitStatus() != 9 {
		t.Errorf("ended with %v", err)
	}
}

// TestClientLeaves: the programs of a client that is gone end, on a terminal
// and without one.
func TestClientLeaves(t *testing.T) {
	for name, pty := range map[string]bool{"terminal": true, "pipes": false} {
		t.Run(name, func(t *testing.T) {
			s, _ := serve(t) // its end waits for all programs
			c, session := login(t, s)
			if pty {
				if err := session.RequestPty("dumb", 24, 80, nil); err != nil {
					t.Fatal(err)
				}
			}
			out, err := session.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := session.Start("echo ready; sleep 1000"); err != nil {
				t.Fatal(err)
			}
			until(t, out, "ready")
			c.Close()
		})
	}
}

// TestRefusals: unsupported requests are refused, and the connection goes on.
func TestRefusals(t *testing.T) {
	s, _ := serve(t)
	c, session := login(t, s)
	if _, err := c.Dial("tcp", "127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "only sessions") {
		t.Errorf("forwarding: %v", err)
	}
	if _, err := c.Listen("tcp", "127.0.0.1:0"); err == nil {
		t.Error("remote forwarding was granted")
	}
	if err := session.RequestSubsystem("sftp"); err == nil {
		t.Error("a subsystem was granted")
	}
	if err := session.Setenv("BAD NAME", "x"); err == nil {
		t.Error("a variable without a name was taken")
	}
	if err := session.Setenv("BIG", strings.Repeat("x", maxEnvSize)); err == nil {
		t.Error("a huge variable was taken")
	}
	if ok, err := session.SendRequest("window-change", true, ssh.Marshal(windowChange{1, 1, 0, 0})); ok || err != nil {
		t.Errorf("a window without a terminal: %v %v", ok, err)
	}
	if ok, err := session.SendRequest("exec", true, []byte{0, 0}); ok || err != nil {
		t.Errorf("a command cut short: %v %v", ok, err)
	}
	if err := session.Run("true"); err != nil {
		t.Errorf("after all that: %v", err)
	}
	var open []*ssh.Session
	for range maxSessions {
		more, err := c.NewSession()
		if err != nil {
			break
		}
		open = append(open, more)
	}
	if _, err := c.NewSession(); err == nil {
		t.Errorf("more than %d sessions on one connection", len(open))
	}
}

func TestAdmission(t *testing.T) {
	a := admission{starting: map[netip.Addr]int{}}
	address := func(n byte) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, n}) }
	for i := range maxPerAddress {
		if !a.enter(address(1)) {
			t.Fatalf("connection %d of one address is refused", i)
		}
	}
	if a.enter(address(1)) {
		t.Error("one address has more than its share")
	}
	a.started(address(1)) // logged in: the connection stays and counts no more for its address
	if !a.enter(address(1)) {
		t.Error("an address that logged in is refused")
	}
	for n := byte(2); a.enter(address(n)); n++ {
	}
	if a.begun != maxStarting {
		t.Errorf("%d connections are not logged in", a.begun)
	}
	for n := range a.starting {
		for a.starting[n] > 0 {
			a.started(n)
			a.leave()
		}
	}
	a.leave()
	if a.open != 0 || a.begun != 0 || len(a.starting) != 0 {
		t.Errorf("counts after all have left: %d %d %v", a.open, a.begun, a.starting)
	}
}

// TestStrangersDoNotKeepOthersOut: connections that never log in are bounded.
func TestStrangersDoNotKeepOthersOut(t *testing.T) {
	s, log := serve(t)
	for range maxPerAddress + 1 {
		conn, err := net.Dial("tcp", s.Address().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, io.EOF) {
			t.Log(err) // reset instead of closed
		}
	}
	if n := strings.Count(log.String(), "too many are open"); n != 1 {
		t.Errorf("%d connections were refused, want 1:\n%s", n, log)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(ssh.Marshal(ptyRequest{Term: "xterm", Columns: 80, Rows: 24}))
	f.Add(ssh.Marshal(envRequest{"LANG", "C"}))
	f.Add([]byte{0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, payload []byte) {
		if r, err := read[envRequest](payload); err == nil {
			if v, err := r.variable(); err == nil && (strings.ContainsRune(v, 0) || strings.ContainsAny(r.Name, "=\n ")) {
				t.Errorf("taken: %q", v)
			}
		}
		_, _ = read[ptyRequest](payload) // must not panic, as the next
		_, _ = read[signalRequest](payload)
	})
}
