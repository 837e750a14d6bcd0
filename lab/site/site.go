// Package site is a lab with a conductor in it, and has calls for all that an operator does: start and kill the
// conductor, enroll machines, ask for verbs, wait for states. The tour of `make lab` and the end-to-end tests both work
// on a site.
//
// It knows the programs by their paths and sends them HTTP requests, as any client does; it must not reach into a
// conductor.
package site

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/network"
)

// APIPort is where the conductor listens, on the bridge's address.
const APIPort = 6385

// The time until a conductor answers: for ours, and for a peer that loads slowly.
const (
	readyTime     = 5 * time.Second
	peerReadyTime = 5 * time.Minute
)

// KernelAppend is the command line of the ramdisk's kernel: that its console is to be seen
// from outside, and that its timer works. On a busy host the timer of an emulated machine
// may tick too late for the kernel's own test, which then panics.
const KernelAppend = "console=ttyS0,115200 quiet no_timer_check"

// conductorDir is the conductor's data folder in the lab's.
const conductorDir = "conductor"

// Config describes a site.
type Config struct {
	Lab     lab.Config
	Ferrite string   // path of the program
	Kernel  string   // of the ramdisk
	Initrd  string   // of the ramdisk
	Serve   []string // more flags of `ferrite serve`
	Env     []string // more of its environment, as KEY=value
	// Before, unless nil, starts services that the conductor needs, and returns more flags of `ferrite serve`.
	Before func(ctx context.Context, l *lab.Lab) (serve []string, access Access, err error)
	// Peer makes the command of another conductor that is to stand in the place
	// of `ferrite serve`: it listens on the API's port of the bridge's address.
	Peer func(ctx context.Context, l *lab.Lab) (*exec.Cmd, error)
}

// Site is a running site.
type Site struct {
	*lab.Lab
	URL       string // of the API, inside the lab's network
	Conductor *lab.Child

	config Config
	port   int    // of the API
	data   string // the conductor's data folder in the lab's
	access Access
	http   *http.Client
}

// Access is the login at a conductor that takes no anonymous requests, and the trust in its certificate.
type Access struct {
	Roots          string // PEM file of the authority that signed its certificate
	User, Password string
	Token          func() string // of Keystone, instead of a user; nil for none
}

// sign adds the login to a request.
func (a Access) sign(r *http.Request) {
	switch {
	case a.Token != nil:
		r.Header.Set("X-Auth-Token", a.Token())
	case a.User != "":
		r.SetBasicAuth(a.User, a.Password)
	}
}

// Secure has the site use TLS and a login, from the conductor's next start on; more are the flags of `ferrite serve`
// that ask for both.
func (s *Site) Secure(a Access, more ...string) error {
	if err := s.useTLS(a); err != nil {
		return err
	}
	s.URL = strings.Replace(s.URL, "http://", "https://", 1)
	s.config.Serve = append(slices.Clone(s.config.Serve), more...)
	return nil
}

// Of is a site in a lab with conductors that the caller starts and ends. The caller sets URL to the conductor to use.
func Of(l *lab.Lab, a Access) (*Site, error) {
	s := &Site{Lab: l, port: APIPort, data: conductorDir}
	return s, s.useTLS(a)
}

// useTLS has requests go over TLS, with a login.
func (s *Site) useTLS(a Access) error {
	raw, err := os.ReadFile(a.Roots)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(raw) {
		return fmt.Errorf("%s: expected certificates as PEM, found none", a.Roots)
	}
	s.http = s.HTTPClient()
	t, ok := s.http.Transport.(*http.Transport)
	if !ok {
		return fmt.Errorf("the lab's client has a %T, which takes no certificates", s.http.Transport)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	s.access = a
	return nil
}

// Env is the environment by which the command line finds the conductor.
func (s *Site) Env() []string {
	env := []string{"FERRITE_URL=" + s.URL}
	if s.access.Token != nil {
		env = append(env, "FERRITE_TOKEN="+s.access.Token())
	}
	if s.access.User != "" {
		env = append(env, "FERRITE_CACERT="+s.access.Roots, "FERRITE_USER="+s.access.User,
			"FERRITE_PASSWORD="+s.access.Password)
	}
	return env
}

// New brings a site up: machines off, conductor ready.
func New(ctx context.Context, c Config) (*Site, error) {
	l, err := lab.New(ctx, c.Lab)
	if err != nil {
		return nil, err
	}
	// A lab that was killed in this folder left its nodes; these are others.
	if err := os.RemoveAll(filepath.Join(c.Lab.Dir, conductorDir)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s := &Site{Lab: l, config: c, http: l.HTTPClient(), port: APIPort, data: conductorDir}
	s.URL = s.baseURL()
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// start starts the conductor, after the services that it needs.
func (s *Site) start(ctx context.Context) error {
	if s.config.Before != nil {
		more, access, err := s.config.Before(ctx, s.Lab)
		if err != nil {
			return err
		}
		s.access, s.config.Serve = access, append(slices.Clone(s.config.Serve), more...)
	}
	return s.StartConductor(ctx)
}

// baseURL is where the conductor's API is, inside the lab's network.
func (s *Site) baseURL() string { return fmt.Sprintf("http://%s:%d", s.Network.Gateway, s.port) }

// Beside starts `ferrite serve` beside the conductor that is there, for the same machines, with an API at another port.
// The two must not both serve boots. The lab's end ends it.
func (s *Site) Beside(ctx context.Context, port int) (*Site, error) {
	o := &Site{Lab: s.Lab, config: s.config, http: s.http, port: port, data: fmt.Sprintf("%s-%d", conductorDir, port)}
	o.config.Peer, o.URL = nil, o.baseURL()
	return o, o.StartConductor(ctx)
}

// StartConductor starts `ferrite serve` on the site's data, or the peer in its
// place, and waits until it answers. The one before must have ended.
func (s *Site) StartConductor(ctx context.Context) error {
	cmd, patience := s.serve(), readyTime
	if s.config.Peer != nil {
		var err error
		if cmd, err = s.config.Peer(ctx, s.Lab); err != nil {
			return fmt.Errorf("conductor: %w", err)
		}
		patience = peerReadyTime
	}
	child, err := s.Start(s.data, cmd)
	if err != nil {
		return fmt.Errorf("conductor: %w", err)
	}
	s.Conductor = child
	for end := time.Now().Add(patience); time.Now().Before(end); {
		select {
		case <-child.Done():
			return fmt.Errorf("conductor ended at once; its log is %s", child.Log)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		if s.Call(ctx, http.MethodGet, "/v1", nil, nil) == nil {
			return nil
		}
	}
	return fmt.Errorf("conductor is not ready after %s; its log is %s", patience, child.Log)
}

// serve is `ferrite serve` for the site.
func (s *Site) serve() *exec.Cmd {
	args := append([]string{
		"serve", "--host", "lab", "--data-dir", filepath.Join(s.config.Lab.Dir, s.data),
		// only the lab is in the namespace
		"--api-address", fmt.Sprintf("%s:%d", s.Network.Gateway, s.port), "--allow-anybody",
		"--boot", "--boot-interface", network.BridgeName,
		"--boot-address", fmt.Sprintf("%s/%d", s.Network.Gateway, s.Network.Subnet.Bits()),
		"--ramdisk-kernel", s.config.Kernel, "--ramdisk-initrd", s.config.Initrd,
		"--kernel-append", KernelAppend,
		// The lab's controllers and registry listen on the address of the bridge, as the conductor does.
		"--bmc-allow", s.Network.Gateway.String(), "--registry-allow", s.Network.Gateway.String(),
	}, s.config.Serve...)
	cmd := exec.Command(s.config.Ferrite, args...)
	cmd.Env = append(os.Environ(), s.config.Env...)
	return cmd
}

// Close takes the lab down, and removes the conductor's data.
func (s *Site) Close() error {
	return errors.Join(s.Lab.Close(), os.RemoveAll(filepath.Join(s.config.Lab.Dir, conductorDir)))
}
