package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/agent/medium"
	"github.com/ferrite-metal/ferrite/agent/module"
	"github.com/ferrite-metal/ferrite/agent/param"
	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// readMedia reads the virtual media of a machine that was booted from them, unless the
// conductor has sent network data along with the ramdisk. The drives need their drivers
// first; the loader of those is nil where nothing was read.
func readMedia(ctx context.Context, kernel sys.Linux, p param.Params, board *screen.Board, log *slog.Logger,
) (*module.Loader, medium.Contents) {
	if _, err := os.Stat(netconfig.Path); !p.VirtualMedia || !errors.Is(err, fs.ErrNotExist) {
		return nil, medium.Contents{}
	}
	board.Doing("reading the virtual media")
	loader := drivers(ctx, kernel, p, netconfig.Plan{}, func() {}, log)
	f := medium.Finder{Root: os.DirFS("/"), Open: func(name string) (medium.Device, error) {
		d, err := os.Open(filepath.Join("/dev", filepath.Base(name)))
		if err != nil {
			return nil, err
		}
		return d, nil
	}}
	found, err := f.Find(ctx)
	if err != nil {
		log.Warn("virtual media not read", "err", err)
	}
	log.Info("virtual media", "labels", found.Labels, "network_data", len(found.NetworkData) > 0,
		"parameters", found.Parameters != "")
	return loader, found
}
