package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/conductor/certificate/certtest"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// formats deploys what the other cases do not: packed images from a container
// registry and from a file of the conductor's, and disks and cards of other kinds.
// Two machines share one lab.
func formats(ctx context.Context, b *bed) (err error) {
	nvme, scsi := machine("nvme-1", qemu.UEFI), machine("scsi-1", qemu.BIOS)
	nvme.Disks[0].Bus, scsi.Disks[0].Bus = qemu.BusNVMe, qemu.BusSCSI
	nvme.NICs = append(nvme.NICs, qemu.NIC{OptionROM: true, Unplugged: true})
	roots := filepath.Join(b.dir, "registry.pem")
	s, done, err := b.siteOf(ctx, []qemu.Spec{nvme, scsi}, site.Config{
		Serve: []string{
			"--log-level", "debug", "--file-url-allowed-paths", b.images,
			"--kernel-append", site.KernelAppend + " ipa-insecure=1", // the registry's authority is in no ramdisk
		},
		Env: []string{"SSL_CERT_FILE=" + roots},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	r, stop, err := b.startRegistry(s, roots)
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	defer func() { err = errors.Join(err, stop()) }()
	for i, img := range []site.Image{
		{URL: r.source(), PullSecret: pullSecret},
		{URL: "file://" + filepath.Join(b.images, b.tiny.ID, filepath.Base(b.tiny.Qcow2Compressed))},
	} {
		m := s.Machines[i]
		if _, err := readied(ctx, s, m, true); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if err := deploy(ctx, s, m, img, "first", m.Name); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	if !r.handedOut() {
		return errors.New("the disk was never read from the registry")
	}
	return nil
}

// startRegistry starts a registry in the site's network that has the tiny OS,
// packed with gzip, and writes down who has signed its certificate.
func (b *bed) startRegistry(s *site.Site, roots string) (r *registry, stop func() error, err error) {
	by, err := certtest.Make()
	if err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(roots, by.PEM(), 0o644); err != nil {
		return nil, nil, err
	}
	l, err := s.Network.Listen("tcp", s.Network.Gateway.String()+":0")
	if err != nil {
		return nil, nil, err
	}
	r, err = newRegistry(l.Addr().String(), b.tiny.RawGz, b.tiny.SHA256[b.tiny.RawGz])
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	stop, err = r.serve(l, by)
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return r, stop, nil
}
