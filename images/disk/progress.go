package disk

import (
	"context"
	"sync/atomic"
	"time"
)

// Progress is the state of a write, in bytes.
type Progress struct {
	Done     int64 // of the virtual disk: written and zeroed
	Total    int64 // size of the virtual disk, -1 when the image does not say
	Read     int64 // of the image
	Download int64 // size of the image, -1 when the source does not say
}

// reporter calls back with the state of a write, at most once per period and
// from one goroutine.
type reporter struct {
	call        func(Progress)
	every       time.Duration
	done        func() int64
	read        *atomic.Int64
	total, size int64
}

// run reports until ctx ends.
func (r *reporter) run(ctx context.Context) {
	t := time.NewTicker(r.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			r.report()
		}
	}
}

// report calls back once.
func (r *reporter) report() {
	r.call(Progress{Done: r.done(), Total: r.total, Read: r.read.Load(), Download: r.size})
}
