package inventory

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"sync"

	"github.com/ferrite-metal/ferrite/proto/lldp"
)

// Listener receives the Ethernet frames of one type that come to an interface:
// each Read is a frame, and Close wakes it.
type Listener interface {
	Frames(name string, etherType uint16, groups []net.HardwareAddr) (io.ReadCloser, error)
}

// largestFrame is an Ethernet frame without jumbo extensions, in which no LLDPDU
// comes (802.1AB 6.7).
const largestFrame = 1600

// ListenLLDP listens on all the interfaces at once until each has received an LLDPDU
// or ctx is over. It returns the data in the form of inspection data, with an empty
// list for an interface that received none. Switches send every 30 seconds by default.
// The firmware of some NICs (Intel X710, E810) keeps LLDPDUs for itself until
// LetLLDPThrough.
func ListenLLDP(ctx context.Context, l Listener, interfaces []string, log *slog.Logger) map[string][][]any {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	found := map[string][][]any{}
	for _, name := range interfaces {
		in, err := l.Frames(name, lldp.EtherType, lldp.Groups())
		if err != nil {
			log.Warn("LLDP is not listened to", "interface", name, "err", err)
			continue
		}
		wg.Go(func() {
			tlvs := lldp.Wire(nextLLDPDU(ctx, in, log.With("interface", name)))
			mu.Lock()
			defer mu.Unlock()
			found[name] = tlvs
		})
	}
	wg.Wait()
	return found
}

// nextLLDPDU waits for a readable one; none when ctx ends before. A damaged one counts when the next is damaged, too,
// or does not come.
func nextLLDPDU(ctx context.Context, in io.ReadCloser, log *slog.Logger) []lldp.TLV {
	stop := context.AfterFunc(ctx, func() { in.Close() }) // which wakes Read
	defer func() {
		if stop() {
			in.Close()
		}
	}()
	buf := make([]byte, largestFrame)
	var damaged []lldp.TLV
	for {
		n, err := in.Read(buf)
		if err != nil {
			if ctx.Err() == nil {
				log.Warn("LLDP cannot be listened to any more", "err", err)
			} else {
				log.Info("no LLDP frame received", "damaged", damaged != nil)
			}
			return damaged
		}
		tlvs, err := lldp.Frame(bytes.Clone(buf[:n]))
		switch {
		case tlvs == nil:
			log.Info("LLDP frame passed over", "err", err)
		case err != nil && damaged == nil:
			log.Warn("LLDP frame is damaged; the part before the damage is taken if no better frame comes", "err", err)
			damaged = tlvs
		default:
			log.Info("LLDP frame received", "statements", len(tlvs), "damage", err)
			return tlvs
		}
	}
}
