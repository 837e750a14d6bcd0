package bootpolicy

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/watch"
)

// watchPause is between two looks at the events: a flood of them is sent in batches.
const watchPause = 100 * time.Millisecond

// Watch shows the events of the boot network with the nodes they are of.
type Watch struct {
	Log    *watch.Log
	Engine *engine.Engine
}

// Servers lists the other DHCP servers that were heard.
func (w *Watch) Servers() []nodeapi.BootServer {
	var all []nodeapi.BootServer
	for _, s := range w.Log.Servers() {
		all = append(all, nodeapi.BootServer{Address: s.Address.String(), First: s.First, Last: s.Last, Times: s.Times,
			Lends: s.Lends, BootFile: s.BootFile, Expected: s.Expected})
	}
	return all
}

// Stream passes the events that q selects to emit, and follows new ones if q asks for that. It ends with ctx or with
// the first error of emit. The node of q is a UUID.
func (w *Watch) Stream(ctx context.Context, q nodeapi.BootQuery, emit func([]nodeapi.BootLine) error) error {
	r := w.Log.Read(q.After)
	defer r.Close()
	var lines []nodeapi.BootLine
	for _, s := range w.Servers() {
		lines = append(lines, nodeapi.BootLine{Server: &s})
	}
	began := time.Now()
	for first := true; ; first = false {
		events, lost := r.Now()
		if lost > 0 {
			lines = append(lines, nodeapi.BootLine{Lost: lost})
		}
		for _, e := range events {
			if first && q.After == 0 && !e.At.After(began.Add(-q.Since)) {
				continue
			}
			line, err := w.line(ctx, q, e)
			if err != nil {
				return err
			}
			if line.Event != nil {
				lines = append(lines, line)
			}
		}
		if first || len(lines) > 0 {
			if err := emit(lines); err != nil {
				return err
			}
		}
		if !q.Follow {
			return nil
		}
		lines = nil
		if err := pause(ctx, r); err != nil {
			return err
		}
	}
}

// pause waits for more, and a moment at least.
func pause(ctx context.Context, r *watch.Reader) error {
	if err := r.Wait(ctx); err != nil {
		return err
	}
	select {
	case <-time.After(watchPause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// line is an event as the wire has it; without one where it is not asked for.
func (w *Watch) line(ctx context.Context, q nodeapi.BootQuery, e pxe.Event) (nodeapi.BootLine, error) {
	if q.MAC != "" && e.MAC.String() != q.MAC {
		return nodeapi.BootLine{}, nil
	}
	wire := wireEvent(e)
	if e.MAC != nil {
		n, _, err := w.Engine.NodeByMAC(ctx, e.MAC.String())
		if err != nil && !errors.Is(err, node.ErrNotFound) {
			return nodeapi.BootLine{}, err
		}
		wire.Node, wire.NodeName = n.UUID, n.Name
	}
	if q.Node != "" && wire.Node != q.Node {
		return nodeapi.BootLine{}, nil
	}
	return nodeapi.BootLine{Event: wire}, nil
}

func wireEvent(e pxe.Event) *nodeapi.BootEvent {
	w := &nodeapi.BootEvent{ID: e.ID, At: e.At, Times: e.Times, Service: string(e.Service), MAC: e.MAC.String(),
		IP: text(e.IP), Relay: text(e.Relay), Asked: e.Asked(), Message: e.Message, Firmware: string(e.Firmware),
		Arch: e.Arch, File: e.File, Answer: e.Answer, Server: text(e.Server), Reason: string(e.Reason), Detail: e.Detail}
	if e.Subnet.IsValid() {
		w.Subnet = e.Subnet.String()
	}
	w.Why, w.Try = e.Why()
	return w
}

// text is an address; "" for none.
func text(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}
