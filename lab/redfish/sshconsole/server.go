package sshconsole

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"

	"golang.org/x/crypto/ssh"
)

// Line is a machine's serial line.
type Line interface {
	// Watch passes the machine's output to see, until stop is called. see must not block.
	Watch(see func([]byte)) (stop func())
	io.Writer
}

// CLI is a controller's command line. The zero CLI has none: a connection is the console.
type CLI struct {
	Prompt  string
	Command string // that connects with the console
	Free    string // that ends the console of another session; "" for none
	Escape  string // bytes that lead back from the console
}

// Config is one controller.
type Config struct {
	Line           Line
	User, Password string
	CLI            CLI
	Questions      bool // asks for the password as a question (RFC 4256) alone
	Log            *slog.Logger
}

// Server is one controller's SSH server.
type Server struct {
	c      Config
	signer ssh.Signer

	mu     sync.Mutex
	holder *session // of the console
	open   map[net.Conn]struct{}
	closed bool
	parts  sync.WaitGroup
}

// New makes a server with a key of its own.
func New(c Config) (*Server, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("SSH host key: %w", err)
	}
	signer, err := ssh.NewSignerFromSigner(private)
	if err != nil {
		return nil, fmt.Errorf("SSH host key: %w", err)
	}
	return &Server{c: c, signer: signer, open: map[net.Conn]struct{}{}}, nil
}

// HostKey is the key of the server.
func (s *Server) HostKey() ssh.PublicKey { return s.signer.PublicKey() }

// Serve takes connections until the listener is closed.
func (s *Server) Serve(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		if !s.enter(conn) {
			return conn.Close()
		}
		s.parts.Go(func() {
			defer s.leave(conn)
			if err := s.connection(conn); err != nil {
				s.c.Log.Info("SSH connection ended", "err", err)
			}
		})
	}
}

func (s *Server) enter(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.open[conn] = struct{}{}
	}
	return !s.closed
}

func (s *Server) leave(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, conn)
	conn.Close()
}

// Disconnect ends all connections, as a controller that restarts does.
func (s *Server) Disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.open {
		conn.Close()
	}
}

// Close ends all connections and waits for them; the caller closes the listener.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Disconnect()
	s.parts.Wait()
	return nil
}

var errRefused = errors.New("user or password refused")

func (s *Server) allow(user, password string) error {
	if user != s.c.User || subtle.ConstantTimeCompare([]byte(password), []byte(s.c.Password)) != 1 {
		return errRefused
	}
	return nil
}

func (s *Server) connection(conn net.Conn) error {
	conf := &ssh.ServerConfig{ServerVersion: "SSH-2.0-labconsole"}
	conf.AddHostKey(s.signer)
	if s.c.Questions {
		conf.KeyboardInteractiveCallback = func(m ssh.ConnMetadata,
			ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			answers, err := ask("", "", []string{"Password: "}, []bool{false})
			if err != nil || len(answers) != 1 {
				return nil, errRefused
			}
			return nil, s.allow(m.User(), answers[0])
		}
	} else {
		conf.PasswordCallback = func(m ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			return nil, s.allow(m.User(), string(password))
		}
	}
	c, channels, requests, err := ssh.NewServerConn(conn, conf)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		if offered.ChannelType() != "session" {
			if err := offered.Reject(ssh.UnknownChannelType, "sessions alone"); err != nil {
				return err
			}
			continue
		}
		channel, asked, err := offered.Accept()
		if err != nil {
			return err
		}
		s.parts.Go(func() { s.serve(&session{server: s, channel: channel}, asked) })
	}
	return nil
}

// serve waits for the shell that a session begins with.
func (s *Server) serve(c *session, asked <-chan *ssh.Request) {
	started := false
	for r := range asked {
		ok := r.Type == "pty-req" || r.Type == "window-change" || r.Type == "shell" && !started
		if r.WantReply {
			if err := r.Reply(ok, nil); err != nil {
				return
			}
		}
		if ok && r.Type == "shell" {
			started = true
			s.parts.Go(func() {
				defer func() { _ = c.channel.Close() }()
				c.run()
			})
		}
	}
}
