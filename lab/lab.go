package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/lab/network"
)

// Lab is a running lab.
type Lab struct {
	ID       string
	Network  *network.Namespace
	Machines []*Machine
	Images   *Images
	// ImagesURL and PhoneHomeURL are for machines, inside the namespace.
	ImagesURL    string
	PhoneHomeURL string
	// ControlURL is on the host's loopback: see control.go.
	ControlURL string

	config    Config
	log       *slog.Logger
	phoneHome *phoneHome

	mu        sync.Mutex
	state     State
	stateGone bool
	children  []*Child
	closers   []func() error

	closing  sync.Once
	closeErr error
}

// New brings a lab up, with its machines powered off. Root is needed. On any error it removes the parts made so far.
func New(ctx context.Context, config Config) (*Lab, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	if _, err := ReadState(config.Dir); !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s holds a lab already: end that one first, or take another folder (%w)", config.Dir,
			errors.Join(err, os.ErrExist))
	}
	l := &Lab{ID: config.ID, config: config, log: config.Log.With("lab", config.ID)}
	if err := l.up(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("lab %s: %w", config.ID, err), l.Close())
	}
	l.log.Info("lab is up", "namespace", l.Network.Namespace, "machines", len(l.Machines), "control", l.ControlURL)
	return l, nil
}

// up makes everything, noting with onClose how to unmake it.
func (l *Lab) up(ctx context.Context) error {
	if err := l.makeFolders(); err != nil {
		return err
	}
	var err error
	if l.Network, err = network.Create(l.ID, l.config.taps(), l.log); err != nil {
		return err
	}
	l.onClose(l.Network.Close)
	self, err := identify(os.Getpid())
	if err != nil {
		return err
	}
	// First of all: from here on `down` can end the remains of a killed lab.
	err = l.change(func(s *State) {
		*s = State{ID: l.ID, Process: self, Namespace: l.Network.Namespace, Gateway: l.Network.Gateway.String(),
			Subnet: l.Network.Subnet.String()}
	})
	if err != nil {
		return err
	}
	if err := l.startServers(); err != nil {
		return err
	}
	for i, m := range l.config.Machines {
		if err := l.addMachine(ctx, i, m); err != nil {
			return err
		}
	}
	return l.startControl()
}

// makeFolders makes the lab's own folders. Folders that an earlier lab left in the same place must be gone, except the
// logs.
func (l *Lab) makeFolders() error {
	for _, name := range []string{consoleDir, logsDir} {
		if err := os.MkdirAll(filepath.Join(l.config.Dir, name), 0o755); err != nil {
			return fmt.Errorf("lab folder: %w", err)
		}
	}
	for _, name := range []string{disksDir, runDir} {
		path := filepath.Join(l.config.Dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			return fmt.Errorf("lab folder: %w", err)
		}
		l.onClose(func() error { return os.RemoveAll(path) })
	}
	return nil
}

// startServers starts the servers for machines: the image server and the phone-home receiver.
func (l *Lab) startServers() error {
	var err error
	if l.Images, err = NewImages(l.config.ImagesDir); err != nil {
		return err
	}
	l.onClose(l.Images.Close)
	if l.ImagesURL, err = l.serve(imagesPort, l.Images); err != nil {
		return fmt.Errorf("image server: %w", err)
	}
	l.phoneHome = newPhoneHome(l.log)
	if l.PhoneHomeURL, err = l.serve(phoneHomePort, l.phoneHome); err != nil {
		return fmt.Errorf("phone-home receiver: %w", err)
	}
	return nil
}

// startControl starts the control endpoint, once there is all it shows.
func (l *Lab) startControl() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("control endpoint: %w", err)
	}
	l.ControlURL = "http://" + listener.Addr().String()
	l.run(l.control(), listener)
	return l.change(func(s *State) {
		s.Images, s.PhoneHome, s.Control = l.ImagesURL, l.PhoneHomeURL, l.ControlURL
	})
}

// headerTimeout bounds how long a client may take over its request's header.
const headerTimeout = 10 * time.Second

// run serves a listener until the lab closes.
func (l *Lab) run(h http.Handler, listener net.Listener) {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ErrorLog: slog.NewLogLogger(l.log.Handler(), slog.LevelDebug),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			l.log.Error("server ended", "address", listener.Addr(), "err", err)
		}
	}()
	l.onClose(func() error {
		err := server.Close()
		<-done
		return err
	})
}

// Machine is the machine of that name, or nil.
func (l *Lab) Machine(name string) *Machine {
	i := slices.IndexFunc(l.Machines, func(m *Machine) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return l.Machines[i]
}

// Forward lets the host's loopback reach a port on the bridge's address, and
// returns the loopback address; hostAddr is as in network.Namespace.Forward.
func (l *Lab) Forward(hostAddr string, port int) (string, error) {
	f, err := l.Network.Forward(hostAddr, fmt.Sprintf("%s:%d", l.Network.Gateway, port))
	if err != nil {
		return "", err
	}
	return f.Addr(), nil
}

// Announce records the URL of the conductor's API on the host's loopback. The refusal of a second lab names it.
func (l *Lab) Announce(url string) error { return l.change(func(s *State) { s.URL = url }) }

// HTTPClient is a new client that makes its requests from inside the lab's
// network. Idle connections are short-lived: an open socket would keep the
// namespace alive after the lab.
func (l *Lab) HTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: l.Network.Dial, IdleConnTimeout: idleTimeout}}
}

// idleTimeout is how long an idle connection of HTTPClient lives.
const idleTimeout = 2 * time.Second

// onClose registers the removal of a part that was just made. Close removes the last part first.
func (l *Lab) onClose(f func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closers = append(l.closers, f)
}

// Close ends the children, powers the machines off and removes everything
// the lab made but its logs and consoles. Calling it again is fine.
func (l *Lab) Close() error {
	l.closing.Do(func() { l.closeErr = l.down() })
	return l.closeErr
}

func (l *Lab) down() error {
	l.mu.Lock()
	children, closers := slices.Clone(l.children), slices.Clone(l.closers)
	l.mu.Unlock()
	var errs []error
	for _, c := range slices.Backward(children) {
		errs = append(errs, c.Stop())
	}
	for _, f := range slices.Backward(closers) {
		errs = append(errs, f())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// Last: until everything is gone, `down` must be able to find it.
	l.stateGone = true
	if err := os.Remove(filepath.Join(l.config.Dir, stateFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, fmt.Errorf("lab state: %w", err))
	}
	return errors.Join(errs...)
}
