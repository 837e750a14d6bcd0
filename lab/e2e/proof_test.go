package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// found wants an inspection to have found a machine's disks and cards, no more and no less, each with its identifying
// properties.
func found(ctx context.Context, s *site.Site, m *lab.Machine) error {
	var kept struct{ Inventory agentapi.Inventory }
	if err := s.Call(ctx, http.MethodGet, "/v1/nodes/"+m.Name+"/inventory", nil, &kept); err != nil {
		return err
	}
	made, seen := hardware(m.Spec()), inventoried(kept.Inventory)
	if !slices.Equal(made, seen) {
		return fmt.Errorf("expected an inventory of\n  %s\nfound\n  %s", strings.Join(made, "\n  "),
			strings.Join(seen, "\n  "))
	}
	return nil
}

// hardware lists the hardware that an inspection must find, one line each, in order.
func hardware(spec qemu.Spec) []string {
	lines := []string{"firmware " + string(spec.Firmware)}
	for _, d := range spec.Disks {
		lines = append(lines, diskLine(d.Serial, transports[d.Bus], d.SizeMB<<20, d.LogicalSectorSize))
	}
	for _, n := range spec.NICs {
		lines = append(lines, cardLine(n.MAC, drivers[n.Model], !n.Unplugged))
	}
	slices.Sort(lines)
	return lines
}

// inventoried lists the hardware of an inventory in the same form.
func inventoried(i agentapi.Inventory) []string {
	lines := []string{"firmware " + i.Boot.CurrentBootMode}
	for _, d := range i.Disks {
		lines = append(lines, diskLine(d.Serial, d.Transport, d.Size, d.LogicalSectors))
	}
	for _, f := range i.Interfaces {
		lines = append(lines, cardLine(f.MACAddress, f.Driver, f.HasCarrier))
	}
	slices.Sort(lines)
	return lines
}

func diskLine(serial, transport string, size int64, sector int) string {
	return fmt.Sprintf("disk %s transport %q of %d bytes in sectors of %d", serial, transport, size, sector)
}

func cardLine(mac, driver string, wired bool) string {
	return fmt.Sprintf("card %s driver %s wired %t", strings.ToLower(mac), driver, wired)
}

// gone wants nothing left of the bytes that fill wrote.
func gone(m *lab.Machine) error {
	for i, d := range m.Spec().Disks {
		if n, err := secrets(d); err != nil || n != 0 {
			return errors.Join(fmt.Errorf("disk %d holds %d secrets", i, n), err)
		}
	}
	return nil
}

// testified checks that the newest erase report of a machine is signed by its conductor and
// says of every disk that it was erased and verified. story is the case's name.
func testified(ctx context.Context, story string, s *site.Site, m *lab.Machine) error {
	report, err := newestReport(ctx, s, m)
	if err != nil {
		return fmt.Errorf("erase report: %w", err)
	}
	for _, d := range m.Spec().Disks {
		i := slices.IndexFunc(report.Disks, func(e agentapi.ErasedDisk) bool { return e.Serial == d.Serial })
		if i < 0 {
			return fmt.Errorf("erase report: nothing of disk %s", d.Serial)
		}
		e := report.Disks[i]
		if e.Method == "" || e.Size != d.SizeMB<<20 || e.Verification == nil || !e.Verification.Passed {
			return fmt.Errorf("erase report: disk %s of %d MiB is not told to be erased: %+v", d.Serial, d.SizeMB, e)
		}
		say("%s: %s erased by %s in %d ms", story, e.Device, e.Method, e.DurationMS)
	}
	return nil
}

// newestReport is a machine's newest erase report, as the conductor's key has
// signed it.
func newestReport(ctx context.Context, s *site.Site, m *lab.Machine) (r agentapi.EraseReport, err error) {
	var list nodeapi.EraseReports
	if err := s.Call(ctx, http.MethodGet, nodeapi.FerriteRoot+"/nodes/"+m.Name+"/erase-reports", nil, &list); err != nil {
		return r, err
	}
	if len(list.EraseReports) == 0 {
		return r, errors.New("there is none")
	}
	var shown nodeapi.EraseKey
	if err := s.Call(ctx, http.MethodGet, nodeapi.FerriteRoot+"/erase-key", nil, &shown); err != nil {
		return r, err
	}
	key, err := nodeapi.ParseEraseKey([]byte(shown.PublicKey))
	if err != nil {
		return r, err
	}
	var document json.RawMessage
	newest := list.EraseReports[len(list.EraseReports)-1]
	if err := s.Call(ctx, http.MethodGet, nodeapi.FerriteRoot+"/erase-reports/"+newest.UUID, nil, &document); err != nil {
		return r, err
	}
	statement, err := nodeapi.OpenEraseReport(document, key)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(statement.Report, &r)
}

// imageEdge is the part at both ends of an image of package osimage that a deploy may change: the partition tables. The
// partitions lie between.
const imageEdge = 1 << 20

// holds wants the partitions of an image on a disk, byte for byte.
func holds(d qemu.Disk, raw string) error {
	image, err := os.ReadFile(raw)
	if err != nil {
		return err
	}
	f, err := os.Open(d.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	disk := make([]byte, len(image))
	if _, err := io.ReadFull(f, disk); err != nil {
		return fmt.Errorf("disk %s: %w", d.Serial, err)
	}
	for at := imageEdge; at < len(image)-imageEdge; at++ {
		if image[at] != disk[at] {
			return fmt.Errorf("disk %s differs from the image at byte %d", d.Serial, at)
		}
	}
	return nil
}

// blank wants nothing but zeroes on a disk.
func blank(d qemu.Disk) error {
	f, err := os.Open(d.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	buf, zeros := make([]byte, 1<<20), make([]byte, 1<<20)
	for at := int64(0); ; at += int64(len(buf)) {
		n, err := io.ReadFull(f, buf)
		if !bytes.Equal(buf[:n], zeros[:n]) {
			return fmt.Errorf("disk %s, which was to be left alone, is not blank in its megabyte %d", d.Serial, at>>20)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
