package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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

// PrepareImage writes an image, and the config drive beside it, onto the node's root
// disk, and reports it in ironic-python-agent's words. It finds all errors that it can
// before it writes anything. After a failure the disk does not boot.
func (m *Machine) PrepareImage(
	ctx context.Context, n agentapi.CommandNode, p agentapi.PrepareImageParams,
) (string, error) {
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
	m.awaitToInstall(ctx, n) // before the image's server is kept waiting
	drive, err := m.configDrive(ctx, p)
	if err != nil {
		return "", invalidImage(err)
	}
	mirrors, sum, err := m.openImage(ctx, info)
	if err != nil {
		return "", imageFailure(err)
	}
	defer mirrors.Close() //nolint:errcheck // only read from
	src := image.Uncoded(mirrors)
	what, err := m.contentOf(info, src, drive)
	if err != nil {
		return "", err
	}
	root, err := m.RootDisk(ctx, n, what.size())
	if err != nil {
		return "", noDevice(err)
	}
	m.Log.Info("image is written to disk", "image", info.ID, "disk", root.Name, "model", root.Model, "serial", root.Serial,
		"size", root.Size)
	w, err := m.writeTo(ctx, root.Name, what, writing{src: src, sum: sum, format: info.DiskFormat})
	if err != nil {
		return "", imageFailure(fmt.Errorf("image %s onto %s: %w", info.ID, root.Name, err))
	}
	m.setWritten(w)
	return fmt.Sprintf("image (%s) written to device %s root_uuid=%s", info.ID, w.device, w.rootUUID), nil
}

// content is the content for a disk, by kind of image.
type content interface {
	// size is the least size of the disk in bytes; 0 if only writing shows it.
	size() int64
	// fill writes it to the disk and reports it.
	fill(ctx context.Context, m *Machine, dev Device, w writing) (*written, error)
	// spoil makes sure that a disk it was put onto in part does not boot.
	spoil(dev Device) error
}

// writing is an image on its way.
type writing struct {
	src    image.Source
	sum    image.Checksum
	format string
	before func(ctx context.Context) error // image.Options.Before
	start  func(first []byte) error        // image.Options.Start
}

// to writes the image onto a disk or a partition.
func (w writing) to(ctx context.Context, m *Machine, target image.Target) error {
	result, err := image.Write(ctx, w.src, target, image.Options{
		Format: w.format, Checksum: w.sum, AllowMD5: m.Config().AgentMD5ChecksumEnable, Progress: m.reportWrite,
		Before: w.before, Start: w.start,
	})
	if err != nil {
		return err
	}
	for _, warning := range result.Warnings {
		m.Log.Warn("image", "warning", warning)
	}
	m.Log.Info("image written", "format", result.Format, "size", result.VirtualSize, "read", result.BytesRead, "written",
		result.Written, "zeroed", result.Zeroed)
	return nil
}

// contentOf returns the new content of a disk, and refuses an image that yields none.
func (m *Machine) contentOf(info agentapi.ImageInfo, src image.Source, drive []byte) (content, error) {
	if info.ImageType == agentapi.PartitionImage {
		return m.divided(info, image.SizeHint(src), drive)
	}
	return wholeDisk{image.SizeHint(src), drive}, nil
}

// writeTo writes everything onto one disk and reports it.
func (m *Machine) writeTo(ctx context.Context, path string, what content, image writing) (*written, error) {
	dev, err := m.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer dev.Close() //nolint:errcheck // flushed before; closing shows no other error
	watched := &watchedDisk{Device: dev}
	w, err := what.fill(ctx, m, watched, image)
	if err != nil && watched.touched.Load() {
		return nil, errors.Join(err, what.spoil(dev))
	}
	if err != nil {
		return nil, err
	}
	w.device = path
	return w, nil
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
