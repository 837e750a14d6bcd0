package netswitch

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// largestFrame is the largest frame of a wire: a jumbo frame with its tag.
const largestFrame = 9216 + headerLen + tagLen

// tickEvery is how often LACP looks at the clock.
const tickEvery = 100 * time.Millisecond

// Running is a switch between wires. Its methods are safe for several goroutines.
type Running struct {
	mu    sync.Mutex
	core  *Switch
	wires []io.ReadWriteCloser
	log   *slog.Logger
	wg    sync.WaitGroup
}

// Run moves frames between wires, one for each port, until ctx ends; Wait waits for that.
// It closes the wires then. A port's link comes with its first frame: QEMU's netdevs have no
// carrier.
func Run(ctx context.Context, core *Switch, wires []io.ReadWriteCloser, log *slog.Logger) *Running {
	r := &Running{core: core, wires: wires, log: log}
	for i, w := range wires {
		r.wg.Go(func() { r.receive(i, w) })
	}
	r.wg.Go(func() {
		t := time.NewTicker(tickEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				for _, w := range wires {
					if err := w.Close(); err != nil {
						log.Warn("wire not closed", "err", err)
					}
				}
				return
			case <-t.C:
				r.mu.Lock()
				r.send(r.core.Tick(time.Now()))
				r.mu.Unlock()
			}
		}
	})
	return r
}

// Wait returns when the switch has ended.
func (r *Running) Wait() { r.wg.Wait() }

// Bundled lists the ports of a group that carry frames.
func (r *Running) Bundled(group int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.core.Bundled(group)
}

// SetAccess calls SetAccess of the Switch.
func (r *Running) SetAccess(name string, vlan int) (heard bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.core.SetAccess(name, vlan)
}

func (r *Running) receive(port int, w io.Reader) {
	b := make([]byte, largestFrame)
	for {
		n, err := w.Read(b)
		if err != nil {
			if !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrClosed) {
				r.log.Warn("port ends", "port", port, "err", err)
			}
			return
		}
		now := time.Now()
		r.mu.Lock()
		r.core.Link(now, port, true)
		r.send(r.core.Receive(now, port, b[:n]))
		r.mu.Unlock()
	}
}

// send writes frames. A guest that is not there loses them, as on any wire.
func (r *Running) send(all []Sending) {
	for _, s := range all {
		if _, err := r.wires[s.Port].Write(s.Frame); err != nil {
			r.log.Debug("frame lost", "port", s.Port, "err", err)
		}
	}
}
