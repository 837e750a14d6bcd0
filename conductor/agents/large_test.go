package agents

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestLargeAnswers: large answers wait for one another, as long as their call may
// take. Others do not wait.
func TestLargeAnswers(t *testing.T) {
	var size atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"commands":[{"command_name":%q}]}`, strings.Repeat("x", int(size.Load())))
	}))
	defer srv.Close()
	c := NewClient(ClientOptions{PlainHTTP: true})
	defer c.Close()
	list := func(patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := c.Commands(ctx, of(node.Agent{URL: srv.URL, Token: agentToken}))
		return err
	}
	for range maxLarge {
		c.large <- struct{}{}
	}
	if err := list(time.Minute); err != nil {
		t.Errorf("a small answer waits for large ones: %v", err)
	}
	size.Store(freeAnswer)
	if err := list(100 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one large answer too many: %v", err)
	}
	<-c.large
	for range 2 {
		if err := list(time.Minute); err != nil {
			t.Errorf("a large answer with a place: %v", err)
		}
	}
	if n := len(c.large); n != maxLarge-1 {
		t.Errorf("%d places are taken afterwards, want %d", n, maxLarge-1)
	}
}
