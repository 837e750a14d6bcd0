package serve

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// scarce is the part of a disk that must be free, or the conductor warns.
	scarce = 0.1
	// diskEvery is how often the disk is looked at.
	diskEvery = time.Minute
)

// freeRoom is the part of a folder's disk that is free, 1 when that cannot be known.
func freeRoom(dir string) float64 {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Blocks == 0 {
		return 1
	}
	return float64(s.Bavail) / float64(s.Blocks)
}

// watchDisk warns while there still is room, until ctx ends.
func watchDisk(ctx context.Context, dir string, log *slog.Logger) {
	for warned := false; ; {
		free := freeRoom(dir)
		if free < scarce && !warned {
			log.Warn("little room is left on the disk of the data folder: make some, a full disk refuses writes", "data-dir",
				dir, "free", free)
		}
		warned = free < scarce
		select {
		case <-time.After(diskEvery):
		case <-ctx.Done():
			return
		}
	}
}
