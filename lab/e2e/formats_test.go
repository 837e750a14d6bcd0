package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// formats deploys the forms that the other cases do not: packed images from a container registry, from an https server
// and from a file of the conductor's, and disks and cards of other kinds. Two machines share one lab. Its ramdisk has
// the site's authority and a step of its own. The clock of one machine is a generation old: no certificate would be
// valid by it, were it not set from the pinned conductor's answer.
func formats(ctx context.Context, b *bed) (err error) {
	nvme, scsi := machine("nvme-1", qemu.UEFI), machine("scsi-1", qemu.BIOS)
	nvme.Disks[0].Bus, scsi.Disks[0].Bus = qemu.BusNVMe, qemu.BusSCSI
	nvme.NICs = append(nvme.NICs, qemu.NIC{OptionROM: true, Unplugged: true})
	nvme.RTC = "2001-01-01T00:00:00"
	by, err := certtest.Make()
	if err != nil {
		return err
	}
	roots := filepath.Join(b.dir, rootsFile)
	c := site.Config{Env: []string{"SSL_CERT_FILE=" + roots},
		Serve: []string{"--log-level", "debug", "--file-url-allowed-paths", b.images}}
	if c.Kernel, c.Initrd, err = b.siteRamdisk(ctx, by); err != nil {
		return err
	}
	b.lap("ramdisk")
	s, done, err := b.siteOf(ctx, []qemu.Spec{nvme, scsi}, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := b.overTLS(ctx, s, by, roots); err != nil {
		return err
	}
	r, stop, err := b.startRegistry(s, by)
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	defer func() { err = errors.Join(err, stop()) }()
	return b.deployFormats(ctx, s, r)
}

// deployFormats deploys each image, and runs the site's step in between.
func (b *bed) deployFormats(ctx context.Context, s *site.Site, r *registry) error {
	old, plain := s.Machines[0], s.Machines[1]
	for i, img := range []site.Image{
		{URL: r.source(), PullSecret: pullSecret},
		{URL: "file://" + filepath.Join(b.images, b.tiny.ID, filepath.Base(b.tiny.Qcow2Compressed))},
	} {
		m := s.Machines[i]
		if _, err := readied(ctx, s, m, true); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if m == plain {
			if err := b.siteStep(ctx, s, m); err != nil {
				return fmt.Errorf("%s: site step: %w", m.Name, err)
			}
		}
		if err := deploy(ctx, s, m, img, "first", m.Name); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		b.lap(m.Name)
	}
	if !r.handedOut() {
		return errors.New("the disk was never read from the registry")
	}
	if err := b.clockWasSet(ctx, s, old); err != nil {
		return fmt.Errorf("%s: %w", old.Name, err)
	}
	asked := time.Now()
	if err := s.SetImage(ctx, old.Name, site.Image{URL: r.file(b.other.ID, b.other.RawZst),
		SHA256: b.other.SHA256[b.other.RawZst]}); err != nil {
		return err
	}
	if err := s.Provision(ctx, old.Name, "rebuild", drive(s, old.Name)); err != nil {
		return fmt.Errorf("%s: rebuild over https: %w", old.Name, err)
	}
	if err := booted(ctx, s, old, "second", old.Name, asked); err != nil {
		return fmt.Errorf("%s: rebuild over https: %w", old.Name, err)
	}
	b.lap("https")
	return nil
}

// overTLS has the conductor spoken to over TLS from now on: ramdisks know its pins.
func (b *bed) overTLS(ctx context.Context, s *site.Site, by *certtest.Authority, roots string) error {
	access := site.Access{Roots: roots, User: "root", Password: "let me in, please"}
	flags, err := b.guard(ctx, s, by, access)
	if err != nil {
		return err
	}
	if err := s.Conductor.Stop(); err != nil {
		return err
	}
	if err := s.Secure(access, flags...); err != nil {
		return err
	}
	return s.StartConductor(ctx)
}

// clockWasSet: inspection has seen the clock that the machine came with, and it was set
// from the conductor's answer.
func (b *bed) clockWasSet(ctx context.Context, s *site.Site, m *lab.Machine) error {
	var found struct {
		PluginData struct {
			Clock agentapi.Clock `json:"ferrite_clock"`
		} `json:"plugin_data"`
	}
	if err := s.Call(ctx, "GET", "/v1/nodes/"+m.Name+"/inventory", nil, &found); err != nil {
		return err
	}
	clocks := found.PluginData.Clock
	set, err := time.Parse(time.RFC3339, clocks.Set)
	if err != nil || !strings.HasPrefix(clocks.RTC, "2001") || !clocks.Pinned || !clocks.RTCSet ||
		time.Since(set).Abs() > time.Hour {
		raw, _ := json.Marshal(clocks) // plain text
		return fmt.Errorf("expected a clock of 2001 that was set from the conductor, found %s", raw)
	}
	return nil
}

// startRegistry starts a registry in the site's network that has the tiny OS,
// packed with gzip, and the files of the labs' image servers.
func (b *bed) startRegistry(s *site.Site, by *certtest.Authority) (r *registry, stop func() error, err error) {
	l, err := s.Network.Listen("tcp", s.Network.Gateway.String()+":0")
	if err != nil {
		return nil, nil, err
	}
	r, err = newRegistry(l.Addr().String(), b.tiny.RawGz, b.tiny.SHA256[b.tiny.RawGz])
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	r.files = b.images
	stop, err = r.serve(l, by)
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return r, stop, nil
}

// writeRoots writes the certificate of an authority.
func writeRoots(file string, by *certtest.Authority) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, by.PEM(), 0o600)
}
