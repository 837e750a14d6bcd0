package inventory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lldpdu is the least that a switch may send.
const lldpdu = "\x01\x80\xc2\x00\x00\x0e\x02\x00\x00\x00\x00\x01\x88\xcc" +
	"\x02\x07\x04\x02\x00\x00\x00\x00\x01" + "\x04\x03\x05e1" + "\x06\x02\x00\x78" + "\x00\x00"

// wires holds the frames for each interface, followed by silence.
type wires map[string][]string

func (w wires) Frames(name string, _ uint16, groups []net.HardwareAddr) (io.ReadCloser, error) {
	frames, there := w[name]
	if !there || len(groups) != 3 {
		return nil, fs.ErrNotExist
	}
	return &wire{frames: frames, closed: make(chan struct{})}, nil
}

type wire struct {
	frames []string
	closed chan struct{}
}

func (w *wire) Read(b []byte) (int, error) {
	if len(w.frames) == 0 {
		<-w.closed
		return 0, net.ErrClosed
	}
	f := w.frames[0]
	w.frames = w.frames[1:]
	if f == "" {
		return 0, errors.New("the link went down")
	}
	return copy(b, f), nil
}

func (w *wire) Close() error { close(w.closed); return nil }

func TestListenLLDP(t *testing.T) {
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	w := wires{
		"switch": {lldpdu[:20], "noise", lldpdu, "never read"},
		"silent": nil,
		"broken": {""},
	}
	// The silent one is waited for until the time is up.
	cancel()
	got := ListenLLDP(ctx, w, []string{"silent", "gone"}, slog.New(slog.NewTextHandler(&log, nil)))
	if diff := cmp.Diff(map[string][][]any{"silent": {}}, got); diff != "" {
		t.Error(diff)
	}
	got = ListenLLDP(t.Context(), w, []string{"switch", "broken"}, slog.New(slog.NewTextHandler(&log, nil)))
	want := map[string][][]any{
		"switch": {{1, "04020000000001"}, {2, "056531"}, {3, "0078"}, {0, ""}},
		"broken": {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, part := range []string{"LLDP is not listened to", "interface=gone",
		"interface=broken err=\"the link went down\""} {
		if !bytes.Contains(log.Bytes(), []byte(part)) {
			t.Errorf("not in the log: %s", part)
		}
	}
}
