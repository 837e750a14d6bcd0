package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// secured cleans a machine under a conductor with TLS and passwords: the ramdisk knows the conductor by the pins on its
// command line. The certificate is replaced while the ramdisk runs, which then has to connect anew. The ramdisk calls
// often, since the case waits for its next call.
func secured(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.BIOS)}, "--heartbeat-timeout", "60s")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	own, err := b.secure(ctx, s)
	if err != nil {
		return err
	}
	m := s.Machines[0]
	if _, err := s.Enroll(ctx, m, nil); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	if err := b.commands(ctx, s, "node manage "+m.Name+" --wait", "node provide "+m.Name+" --wait"); err != nil {
		return err
	}
	switch _, err := b.ferrite(ctx, s, "node", "list", "--user", "nobody"); {
	case err == nil:
		return errors.New("a stranger lists nodes")
	case !strings.Contains(err.Error(), "log in: --user"):
		return fmt.Errorf("a stranger is refused in other words: %w", err)
	}
	if err := issue(own, b.dir, s.Network.Gateway.String()); err != nil {
		return err
	}
	if err := s.Conductor.Stop(); err != nil { // and with it the connections that were made under the old one
		return err
	}
	replaced := time.Now()
	if err := s.StartConductor(ctx); err != nil {
		return err
	}
	return heardAfter(ctx, s, m.Name, replaced)
}

// secure starts the conductor again, behind TLS with a certificate of its own, and with further flags.
func (b *bed) secure(ctx context.Context, s *site.Site, more ...string) (own *certtest.Authority, err error) {
	if own, err = certtest.Make(); err != nil {
		return nil, err
	}
	access := site.Access{Roots: filepath.Join(b.dir, rootsFile), User: "root", Password: "let me in, please"}
	flags, err := b.guard(ctx, s, own, access)
	if err != nil {
		return nil, err
	}
	if err := s.Conductor.Stop(); err != nil {
		return nil, err
	}
	if err := s.Secure(access, append(flags, more...)...); err != nil {
		return nil, err
	}
	return own, s.StartConductor(ctx)
}

// guard makes the files that guard the conductor, and returns the flags for them.
func (b *bed) guard(ctx context.Context, s *site.Site, own *certtest.Authority,
	a site.Access) (flags []string, err error) {
	if err := issue(own, b.dir, s.Network.Gateway.String()); err != nil {
		return nil, err
	}
	return b.passwords(ctx, s, a)
}

// passwords makes the file of the only user, and returns the flags that guard conductors.
func (b *bed) passwords(ctx context.Context, s *site.Site, a site.Access) (flags []string, err error) {
	secret, htpasswd := filepath.Join(b.dir, "secret"), filepath.Join(b.dir, "htpasswd")
	if err := os.WriteFile(secret, []byte(a.Password+"\n"), 0o600); err != nil {
		return nil, err
	}
	if _, err := b.ferrite(ctx, s, "user", "password", a.User, "--htpasswd-file", htpasswd, "--password-file",
		secret); err != nil {
		return nil, err
	}
	return []string{
		"--auth", "basic", "--htpasswd-file", htpasswd,
		"--tls-cert", filepath.Join(b.dir, certFile), "--tls-key", filepath.Join(b.dir, keyFile),
	}, nil
}

// heardAfter waits for a heartbeat that came after a moment.
func heardAfter(ctx context.Context, s *site.Site, name string, moment time.Time) error {
	var st nodeapi.Status
	for {
		var err error
		if st, err = s.Status(ctx, name); err != nil {
			return err
		}
		if st.LastHeartbeat.After(moment) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s has not been heard of since %s, though its conductor only has another certificate: %w", name,
				st.LastHeartbeat, ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

// The files of a case's certificate.
const (
	certFile  = "tls.crt"
	keyFile   = "tls.key"
	rootsFile = "roots.pem"
)

// issue writes a new certificate for hosts, with the authority's behind it, its
// key, and the authority's certificate alone.
func issue(by *certtest.Authority, dir string, hosts ...string) error {
	chain, key, err := by.Issue(hosts...)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{keyFile: key, certFile: chain, rootsFile: by.PEM()} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
