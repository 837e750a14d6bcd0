package agents

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// TestShare: calls of agents beyond their share are turned away, after a wait, and
// are taken again once one has ended.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(Options{Conductor: &scripted{}})
		s.share = connlimit.NewShare(1, 1)
		block, ended := make(chan struct{}), make(chan struct{})
		slow := s.limited("GET", func(http.ResponseWriter, *http.Request) error { <-block; return nil })
		go func() {
			defer close(ended)
			r, _ := http.NewRequestWithContext(t.Context(), "GET", "/v1/lookup", nil)
			r.RemoteAddr = "10.0.0.8:1"
			if err := slow(nil, r); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		if a := ask(t, s, 68, "GET", "/v1/lookup?addresses="+aMAC, ""); a.status != http.StatusServiceUnavailable {
			t.Errorf("one more than the share: %d %s", a.status, a.text)
		}
		close(block)
		<-ended
		if a := ask(t, s, 68, "GET", "/v1/lookup?addresses="+aMAC, ""); a.status == http.StatusServiceUnavailable {
			t.Errorf("within the share: %d %s", a.status, a.text)
		}
	})
}
