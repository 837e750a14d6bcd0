package rescue

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// Server is the SSH server of one boot.
type Server struct {
	Options
	listener net.Listener
	key      ssh.Signer
	admitted admission
}

// Listen makes this boot's host key and opens the port; Serve answers.
func Listen(ctx context.Context, address string, o Options) (*Server, error) {
	if o.Pause == 0 {
		o.Pause = defaultPause
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("ssh: host key: %w", err)
	}
	key, err := ssh.NewSignerFromSigner(private)
	if err != nil {
		return nil, fmt.Errorf("ssh: host key: %w", err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("ssh: %w", err)
	}
	return &Server{Options: o, listener: l, key: key, admitted: admission{starting: map[netip.Addr]int{}}}, nil
}

// Address is where the server listens.
func (s *Server) Address() net.Addr { return s.listener.Addr() }

// Fingerprint is the host key's, as clients show it.
func (s *Server) Fingerprint() string { return ssh.FingerprintSHA256(s.key.PublicKey()) }

// Serve answers until ctx ends, then it ends all sessions.
func (s *Server) Serve(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { _ = s.listener.Close() })()
	var open sync.WaitGroup
	defer open.Wait()
	for {
		conn, err := s.listener.Accept()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("ssh: %w", err)
		case err != nil: // out of files or memory, or the client left: for a moment only
			s.Log.Warn("ssh connection not taken", "err", err)
			wait(ctx, time.Second)
			continue
		}
		from := addressOf(conn)
		if !s.admitted.enter(from) {
			s.Log.Debug("ssh connection refused: too many are open", "from", from)
			_ = conn.Close() // nothing was said yet
			continue
		}
		open.Go(func() { s.connection(ctx, conn, from) })
	}
}

// connection serves one client to its end.
func (s *Server) connection(ctx context.Context, conn net.Conn, from netip.Addr) {
	defer s.admitted.leave()
	defer conn.Close() // a connection
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	log := s.Log.With("from", from)
	client, channels, requests, err := s.login(ctx, conn, log)
	s.admitted.started(from)
	if err != nil {
		log.Debug("ssh client left before it was logged in", "err", err)
		return
	}
	log.Info("logged in by ssh", "user", client.User(), "client", string(client.ClientVersion()))
	go ssh.DiscardRequests(requests) // ends with the connection
	s.sessions(ctx, channels, log)
	log.Info("ssh client left")
}

// login is the handshake, with a deadline.
func (s *Server) login(
	ctx context.Context, conn net.Conn, log *slog.Logger,
) (*ssh.ServerConn, <-chan ssh.NewChannel, <-chan *ssh.Request, error) {
	config := &ssh.ServerConfig{ServerVersion: "SSH-2.0-ferrite", MaxAuthTries: maxTries}
	if s.Password.scheme.ID != "" {
		config.PasswordCallback = s.password(ctx, log)
	}
	if len(s.Keys) > 0 {
		config.MaxAuthTries = keyTries
		config.PublicKeyCallback = func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if c.User() == Operator && s.allowed(key) {
				return nil, nil
			}
			return nil, errors.New("unknown user or key")
		}
	}
	config.AddHostKey(s.key)
	if err := conn.SetDeadline(time.Now().Add(loginTime)); err != nil {
		return nil, nil, nil, err
	}
	client, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return nil, nil, nil, err
	}
	return client, channels, requests, conn.SetDeadline(time.Time{})
}

// password checks the password of the user rescue.
func (s *Server) password(ctx context.Context, log *slog.Logger) func(ssh.ConnMetadata,
	[]byte) (*ssh.Permissions, error) {
	return func(c ssh.ConnMetadata, given []byte) (*ssh.Permissions, error) {
		// The password is checked even for another user: the time must not reveal
		// which user name is the right one.
		if right := s.Password.Matches(given); right && c.User() == User {
			return nil, nil
		}
		log.Warn("wrong user or password by ssh", "user", c.User())
		wait(ctx, s.Pause)
		return nil, errors.New("wrong user or password")
	}
}

// sessions serves the channels that a client opens. It refuses forwarding: the server
// gives access to this machine alone.
func (s *Server) sessions(ctx context.Context, channels <-chan ssh.NewChannel, log *slog.Logger) {
	var open sync.WaitGroup
	defer open.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the client left: its programs end
	slots := make(chan struct{}, maxSessions)
	for asked := range channels {
		if kind := asked.ChannelType(); kind != "session" {
			log.Info("ssh channel refused", "type", kind)
			_ = asked.Reject(ssh.UnknownChannelType, "only sessions are offered") // the client may be gone
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			_ = asked.Reject(ssh.ResourceShortage, fmt.Sprintf("at most %d sessions on one connection", maxSessions)) // as above
			continue
		}
		channel, requests, err := asked.Accept()
		if err != nil {
			<-slots
			continue
		}
		open.Go(func() {
			defer func() { <-slots }()
			newSession(s, channel, log).serve(ctx, requests)
		})
	}
}

// wait pauses, unless ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

func addressOf(conn net.Conn) netip.Addr {
	ap, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{} // not TCP
	}
	return ap.Addr().Unmap()
}
