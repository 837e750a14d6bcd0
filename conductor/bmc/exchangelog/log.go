package exchangelog

import (
	"container/list"
	"context"
	"slices"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The bounds of a Log: of a node, and of all of them. A call takes some 300 bytes.
const (
	maxOfNode = 200
	maxOfAll  = 50_000
)

// maxText bounds a name or an error: a BMC's text may be a page of HTML.
const maxText = 300

// Tracer follows effects, as the engine's Tracer.
type Tracer interface {
	Working(ctx context.Context, n node.Node, ef node.Effect) (working context.Context, end func(result any, err error))
}

// Log remembers calls. It is a Tracer, and passes effects on to the next one. It is safe for concurrent use.
type Log struct {
	next Tracer // nil for none

	mu     sync.Mutex
	nodes  map[string]*list.Element // of latest
	latest *list.List               // of *ofNode, the node with the latest call first
	count  int
	last   uint64
}

// ofNode is the calls of one node, the oldest first.
type ofNode struct {
	uuid  string
	calls []nodeapi.Call
}

// New makes an empty log before another tracer, which may be nil.
func New(next Tracer) *Log {
	return &Log{next: next, nodes: map[string]*list.Element{}, latest: list.New()}
}

// Working remembers each call that is made with the context that it returns.
func (l *Log) Working(ctx context.Context, n node.Node,
	ef node.Effect) (working context.Context, end func(result any, err error)) {
	working, end = ctx, func(any, error) {}
	if l.next != nil {
		working, end = l.next.Working(ctx, n, ef)
	}
	uuid, effect := n.UUID, ef.Name
	return exchange.Watch(working, func(e exchange.Exchange) { l.add(uuid, effect, e) }), end
}

func (l *Log) add(uuid, effect string, e exchange.Exchange) {
	c := nodeapi.Call{At: e.Began.UTC(), Seconds: e.Ended.Sub(e.Began).Seconds(), Protocol: e.Protocol,
		Name: shortened(e.Name), Server: e.Server, Status: e.Status, Effect: effect,
		Note: shortened(e.Note)}
	if e.Err != nil {
		c.Error = shortened(e.Err.Error())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	c.ID = l.last
	at := l.nodes[uuid]
	if at == nil {
		at = l.latest.PushFront(&ofNode{uuid: uuid})
		l.nodes[uuid] = at
	}
	l.latest.MoveToFront(at)
	of := at.Value.(*ofNode)
	of.calls = append(of.calls, c)
	if l.count++; len(of.calls) > maxOfNode {
		of.calls = slices.Delete(of.calls, 0, 1)
		l.count--
	}
	for l.count > maxOfAll {
		oldest := l.latest.Back()
		forgotten := oldest.Value.(*ofNode)
		l.latest.Remove(oldest)
		delete(l.nodes, forgotten.uuid)
		l.count -= len(forgotten.calls)
	}
}

// Calls is the latest calls of a node, the oldest first.
func (l *Log) Calls(uuid string) []nodeapi.Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.nodes[uuid]
	if at == nil {
		return nil
	}
	return slices.Clone(at.Value.(*ofNode).calls)
}

func shortened(text string) string {
	if len(text) <= maxText {
		return text
	}
	return text[:maxText] + "…"
}
