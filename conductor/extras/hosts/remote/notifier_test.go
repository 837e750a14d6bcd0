package remote

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// hosts records the changes that it gets.
type hosts struct{ heard []string }

func (h *hosts) NodeChanged(n node.Node) {
	h.heard = append(h.heard, n.UUID+" "+string(n.ProvisionState))
}
func (h *hosts) GroupChanged(group string) { h.heard = append(h.heard, "all of "+group) }

// TestNotifier: the leader of the default group gets all changes, in the end.
func TestNotifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hosts{}
		read := func(_ http.ResponseWriter, r *http.Request, group string) ([]byte, error) {
			if group != "rack-a" {
				return nil, errors.New("another group")
			}
			return io.ReadAll(r.Body)
		}
		listener := calling(nil).Listener("/cluster/", read, h)
		var cut atomic.Bool
		cut.Store(true)
		caller := wired(listener)
		notifier := NewNotifier("rack-a", func(ctx context.Context, group, path string, body []byte) ([]byte, error) {
			if cut.Load() || group != Default {
				return nil, errors.New("cut off")
			}
			return caller.Call(ctx, group, path, body)
		}, quiet)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			notifier.Run(ctx)
		}()
		notifier.NodeChanged(node.Node{UUID: "n1", ProvisionState: node.Deploying})
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(h.heard) > 0 {
			t.Errorf("heard %v while cut off", h.heard)
		}
		notifier.NodeChanged(node.Node{UUID: "n1", ProvisionState: node.Active})
		cut.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		notifier.NodeChanged(node.Node{UUID: "n2"})
		time.Sleep(time.Second)
		stop()
		<-done
		if diff := cmp.Diff([]string{"all of rack-a", "n1 active", "n2 "}, h.heard); diff != "" {
			t.Errorf("heard (-want +got):\n%s", diff)
		}
	})
}
