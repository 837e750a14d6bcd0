package exchangelog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
)

// next is a tracer that watches exchanges, too.
type next struct{ seen []string }

func (n *next) Working(ctx context.Context, _ node.Node, _ node.Effect) (context.Context, func(any, error)) {
	ctx = exchange.Watch(ctx, func(e exchange.Exchange) { n.seen = append(n.seen, e.Name) })
	return ctx, func(any, error) { n.seen = append(n.seen, "end") }
}

func call(l *Log, uuid, name string, err error) {
	ctx, end := l.Working(context.Background(), node.Node{UUID: uuid}, node.Effect{Name: "power.power_off"})
	exchange.Ended(ctx, exchange.Exchange{Protocol: exchange.Redfish, Name: name, Server: "https://10.0.0.1",
		Status: 200, Began: time.Now().Add(-time.Second), Err: err})
	end(nil, nil)
}

func TestCalls(t *testing.T) {
	after := &next{}
	l := New(after)
	call(l, "a", "GET /redfish/v1", nil)
	call(l, "a", "POST /reset", errors.New(strings.Repeat("x", 1000)))
	call(l, "b", "GET /redfish/v1", nil)
	if strings.Join(after.seen, ",") != "GET /redfish/v1,end,POST /reset,end,GET /redfish/v1,end" {
		t.Errorf("the next tracer saw %v", after.seen)
	}
	got := l.Calls("a")
	if len(got) != 2 || got[0].Name != "GET /redfish/v1" || got[0].Effect != "power.power_off" || got[0].Seconds < 0.9 ||
		got[1].ID <= got[0].ID || len(got[1].Error) > maxText+3 {
		t.Errorf("found %+v", got)
	}
	if got := l.Calls("nobody"); got != nil {
		t.Errorf("found %+v of a node without calls", got)
	}
}

// TestBounds: the oldest calls of a node go first, then the nodes that were called longest ago.
func TestBounds(t *testing.T) {
	l := New(nil)
	for i := range maxOfNode + 5 {
		call(l, "first", fmt.Sprint(i), nil)
	}
	if got := l.Calls("first"); len(got) != maxOfNode || got[0].Name != "5" {
		t.Errorf("%d calls, the first is %q", len(got), got[0].Name)
	}
	for i := range maxOfAll/maxOfNode + 1 {
		for range maxOfNode {
			l.add(fmt.Sprint("n", i), "", exchange.Exchange{})
		}
	}
	if got := l.Calls("first"); got != nil {
		t.Errorf("the first node has %d calls still", len(got))
	}
	if l.count > maxOfAll || len(l.nodes) != l.latest.Len() {
		t.Errorf("%d calls of %d nodes, %d in the list", l.count, len(l.nodes), l.latest.Len())
	}
}
