package socket

import (
	"net/netip"
	"strings"
	"testing"
)

// TestQueue: the kernel keeps a burst where we may say so, and otherwise the error
// names what bounds it.
func TestQueue(t *testing.T) {
	c, err := UDP(t.Context(), "test", "", netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := Queue(c); err != nil && !strings.Contains(err.Error(), "net.core.rmem_max=4194304") {
		t.Error(err)
	}
	if err := shortQueue(Burst); err != nil {
		t.Error(err)
	}
	if err := shortQueue(212992); err == nil || !strings.Contains(err.Error(), "keeps 212992 bytes") {
		t.Errorf("a short queue: %v", err)
	}
}
