package steps

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/agent/disk"
	image "github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// writeImage is the step deploy.write_image.
func writeImage(ctx context.Context, m *Machine, r Request) (any, error) {
	raw, err := json.Marshal(r.Step.Args)
	if err != nil {
		return nil, invalidImage(err)
	}
	var p agentapi.PrepareImageParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, invalidImage(err)
	}
	text, err := m.PrepareImage(ctx, r.Node, p)
	if err != nil {
		return nil, err
	}
	return "prepare_image: " + text, nil
}

// PrepareImage writes an image, and the config drive beside it, onto the
// node's root disk, and says in ironic-python-agent's words what it did. All
// that can be found wrong without writing is found before anything is
// written; after a failure the disk does not boot.
func (m *Machine) PrepareImage(ctx context.Context, n agentapi.CommandNode, p agentapi.PrepareImageParams) (string, error) {
	if m.Download.MaxDuration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.Download.MaxDuration)
		defer cancel()
	}
	m.setWritten(nil)
	info := p.ImageInfo
	if err := info.Validate(); err != nil {
		return "", invalidImage(err)
	}
	drive, err := m.configDrive(ctx, p)
	if err != nil {
		return "", invalidImage(err)
	}
	src, sum, err := m.openImage(ctx, info)
	if err != nil {
		return "", imageFailure(err)
	}
	defer src.Close() //nolint:errcheck // only read from
	root, err := m.RootDisk(ctx, n, image.SizeHint(src))
	if err != nil {
		return "", noDevice(err)
	}
	m.Log.Info("image goes onto disk", "image", info.ID, "disk", root.Name, "model", root.Model, "serial", root.Serial, "size", root.Size)
	w, err := m.writeTo(ctx, root.Name, src, sum, info.DiskFormat, drive)
	if err != nil {
		return "", imageFailure(fmt.Errorf("image %s onto %s: %w", info.ID, root.Name, err))
	}
	m.setWritten(w)
	return fmt.Sprintf("image (%s) written to device %s root_uuid=%s", info.ID, w.device, w.identifier), nil
}

// writeTo writes everything onto one disk and returns what is there then.
func (m *Machine) writeTo(ctx context.Context, path string, src image.Source, sum image.Checksum, format string, drive []byte) (*written, error) {
	dev, err := m.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer dev.Close() //nolint:errcheck // flushed before; closing tells nothing new
	watched := &watchedDisk{Device: dev}
	w, err := m.fill(ctx, watched, src, sum, format, drive)
	if err != nil && watched.touched.Load() {
		return nil, errors.Join(err, unboot(dev))
	}
	if err != nil {
		return nil, err
	}
	w.device = path
	return w, nil
}

// fill writes image, partition table and config drive.
func (m *Machine) fill(ctx context.Context, dev Device, src image.Source, sum image.Checksum, format string, drive []byte) (*written, error) {
	result, err := image.Write(ctx, src, dev, image.Options{
		Format: format, Checksum: sum, AllowMD5: m.Config().AgentMD5ChecksumEnable, Progress: m.reportWrite,
	})
	if err != nil {
		return nil, err
	}
	for _, w := range result.Warnings {
		m.Log.Warn("image", "warning", w)
	}
	m.Log.Info("image written", "format", result.Format, "size", result.VirtualSize, "read", result.BytesRead, "written", result.Written, "zeroed", result.Zeroed)
	if err := disk.FitGPT(dev); err != nil && !errors.Is(err, disk.ErrNoTable) {
		return nil, fmt.Errorf("move the backup partition table to the disk's end: %w", err)
	}
	table, err := disk.ReadTable(dev)
	if err != nil {
		return nil, fmt.Errorf("the image must bring a partition table this disk's sectors of %d bytes can have: %w", dev.LogicalSectorSize(), err)
	}
	if len(table.Parts()) == 0 {
		return nil, errors.New("the image's partition table has no partitions")
	}
	if drive != nil {
		m.Progress(agentapi.Progress{Step: "write_image", Stage: "config drive", Done: 0, Total: int64(len(drive))})
		part, err := disk.WriteConfigDrive(dev, drive, rand.Reader)
		if err != nil {
			return nil, err
		}
		m.Log.Info("config drive written", "partition", part.Number, "size", len(drive))
	}
	if err := dev.Flush(); err != nil {
		return nil, err
	}
	if err := dev.RereadPartitions(ctx); err != nil {
		return nil, err
	}
	id, err := identifier(dev)
	return &written{identifier: id}, err
}

// reportWrite passes progress on: of the disk's bytes where the image says
// how many there are, else of the download.
func (m *Machine) reportWrite(p image.Progress) {
	out := agentapi.Progress{Step: "write_image", Stage: "write", Done: p.Done, Total: p.Total}
	if p.Total < 0 {
		out.Done, out.Total = p.Read, max(p.Download, 0)
	}
	m.Progress(out)
}

// identifier is the disk's signature in its MBR, which is zero beside a GPT:
// what ironic-python-agent reports as root UUID of a whole-disk image.
func identifier(dev Device) (string, error) {
	sector := make([]byte, 512)
	if _, err := dev.ReadAt(sector, 0); err != nil {
		return "", fmt.Errorf("read the disk's identifier: %w", err)
	}
	return fmt.Sprintf("0x%08x", binary.LittleEndian.Uint32(sector[440:])), nil
}
