package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// secret fills the disks.
const secret = "KEEP-THIS-SECRET"

// toErase is the disks of the case, with the erase method of each: the first in the table of package agent/disk/erase
// that QEMU supports.
var toErase = []struct {
	disk   qemu.Disk
	device string
	method string
}{
	{qemu.Disk{SizeMB: 128}, "/dev/vda", "discard"},
	{qemu.Disk{SizeMB: 64, Plain: true}, "/dev/vdb", "overwrite"},
	{qemu.Disk{SizeMB: 128, Bus: qemu.BusNVMe}, "/dev/nvme0n1", "nvme_format_user_data"},
	{qemu.Disk{SizeMB: 128, Bus: qemu.BusSCSI}, "/dev/sda", "discard"},
	{qemu.Disk{SizeMB: 64, Bus: qemu.BusSCSI, Plain: true}, "/dev/sdb", "zero_out"},
}

// erased fills disks, has them erased by a step asked for by hand, and looks
// into their files from the host. A plan asked for before changes nothing. Then the
// signed report is read, and an erase aborted that leaves none of its machine.
func erased(ctx context.Context, b *bed) (err error) {
	spec := machine("metal-1", qemu.BIOS)
	spec.Disks = nil
	for _, e := range toErase {
		spec.Disks = append(spec.Disks, e.disk)
	}
	s, done, err := b.site(ctx, []qemu.Spec{spec})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	for _, d := range m.Spec().Disks {
		if err := fill(d); err != nil {
			return err
		}
	}
	if _, err := s.Enroll(ctx, m, nil); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	if err := b.commands(ctx, s, "node manage metal-1 --wait", "node inspect metal-1 --wait",
		`node clean metal-1 --wait --step deploy.erase_devices:{"dry_run":true}`); err != nil {
		return err
	}
	for i, d := range m.Spec().Disks {
		if n, err := secrets(d); err != nil || n != d.SizeMB<<20/int64(len(secret)) {
			return errors.Join(fmt.Errorf("dry run: disk %d holds %d secrets, expected all", i, n), err)
		}
	}
	if !slices.ContainsFunc(m.Console(), func(l qemu.Line) bool {
		return strings.Contains(l.Text, "plan=nvme_format_user_data")
	}) {
		return errors.New("dry run: the machine's console does not tell the plan")
	}
	if err := b.erasedLate(ctx, s, m); err != nil {
		return err
	}
	for i, d := range m.Spec().Disks {
		if n, err := secrets(d); err != nil || n != 0 {
			return errors.Join(fmt.Errorf("disk %d holds %d secrets after it was erased", i, n), err)
		}
	}
	if err := reported(m); err != nil {
		return err
	}
	if err := b.signed(ctx, s, m); err != nil {
		return fmt.Errorf("erase report: %w", err)
	}
	return b.cutOff(ctx, s, m)
}

// erasedLate erases all disks of a machine when its last disk appears only after the step has begun. The agent knows of
// that disk by the last inspection.
func (b *bed) erasedLate(ctx context.Context, s *site.Site, m *lab.Machine) error {
	late := len(toErase) - 1
	if err := m.Unplug(ctx, late); err != nil {
		return fmt.Errorf("unplug a disk: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	plugged := make(chan error, 1)
	go func() {
		_, err := m.WaitLine(ctx, func(l qemu.Line) bool {
			return strings.Contains(l.Text, "disks that the last inspection saw are not there yet")
		})
		if err == nil {
			err = m.Plug(ctx, late)
		}
		plugged <- err
	}()
	err := b.commands(ctx, s, "node clean metal-1 --wait --step deploy.erase_devices")
	stop()
	return errors.Join(err, <-plugged)
}

// fill writes secrets all over a disk of a machine that is off.
func fill(d qemu.Disk) error {
	chunk := bytes.Repeat([]byte(secret), 1<<20/len(secret))
	f, err := os.OpenFile(d.Path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	for range d.SizeMB {
		if _, err := f.Write(chunk); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// secrets counts those a disk's file holds.
func secrets(d qemu.Disk) (n int64, err error) {
	f, err := os.Open(d.Path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for buf := make([]byte, 1<<20); ; {
		k, err := io.ReadFull(f, buf)
		n += int64(bytes.Count(buf[:k], []byte(secret)))
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// reported wants the machine to say on its console of each disk by which method
// it was erased, and that this was verified.
func reported(m *lab.Machine) error {
	methods := map[string]string{}
	for _, line := range m.Console() {
		_, text, found := strings.Cut(line.Text, `msg="erase report" disk=`)
		if !found {
			continue
		}
		quoted, err := strconv.Unquote(strings.TrimSpace(text))
		if err != nil {
			return fmt.Errorf("console line %q: %w", line.Text, err)
		}
		var d agentapi.ErasedDisk
		if err := json.Unmarshal([]byte(quoted), &d); err != nil {
			return fmt.Errorf("console line %q: %w", line.Text, err)
		}
		if methods[d.Device] = d.Method; d.Method == "" {
			continue
		}
		if d.Verification == nil || !d.Verification.Passed {
			return fmt.Errorf("%s was not verified: %s", d.Device, quoted)
		}
		say("erase: %s of %d MiB by %s in %d ms, %d canaries and %d samples gone", d.Device, d.Size>>20, d.Method,
			d.DurationMS,
			d.Verification.Canaries, d.Verification.Samples)
	}
	for _, e := range toErase {
		if methods[e.device] != e.method {
			return fmt.Errorf("%s was erased by %q, expected %q", e.device, methods[e.device], e.method)
		}
	}
	return nil
}
