package store

import (
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// version names one state of one node for ever: an id is never used twice, and
// the revision grows with every save.
type version struct{ id, revision int64 }

// nodeRow is a row of nodeRowColumns.
type nodeRow struct {
	version
	uuid, doc string
	sealed    []byte // its secrets
}

const nodeRowColumns = "id, revision, uuid, doc, sealed"

func (r *nodeRow) places() []any { return []any{&r.id, &r.revision, &r.uuid, &r.doc, &r.sealed} }

// cached is a decoded node: decoding was three quarters of the cost of a list when it was measured. After a write it
// holds the written document, which the first reader decodes. It never holds the caller's node, because the caller may
// still change its maps.
type cached struct {
	version
	node    *node.Node // shared by all readers; nil before the first
	doc     string     // until then
	sealed  []byte     // until then
	size    int        // of the document and its secrets
	current bool       // no later version is on the disk, nor on its way there
}

// nodeCache keeps decoded nodes in two generations, as the API keeps rendered ones. An entry
// is never wrong for its version. The cache knows which version is current because all
// writes go through the writer beside it, which announces every node before it writes and
// again when it is done.
type nodeCache struct {
	seal       sealer
	group      *string // only this process writes nodes of this group; nil for all nodes
	mu         sync.Mutex
	limit      int // bytes of a generation
	size       int
	young, old map[string]*cached
	visits     map[string]*visit
}

// visit counts the reads and writes of one node that are under way. Overlapping visits
// share one.
type visit struct {
	guests  int
	written bool // the result of these reads may be outdated already
	writer  *int // of a write under way, nil for none
	// several writes were under way at once: which of them was the last is not known here.
	several bool
}

func newNodeCache(bytes int, seal sealer) *nodeCache {
	return &nodeCache{seal: seal, limit: bytes / 2, young: map[string]*cached{}, visits: map[string]*visit{}}
}

// current returns the cached state of a UUID. If there is none it begins a visit: the
// caller reads it from the disk, and then leaves.
func (c *nodeCache) current(uuid string) (e *cached, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.find(uuid); e != nil && e.current {
		return e, true
	}
	c.enter(uuid)
	return nil, false
}

// leave ends a read that current began. found is its result, nil for nothing. A node that was read by its name is not
// cached: writes note its UUID, so they cannot have marked a visit of the name as outdated.
func (c *nodeCache) leave(ref string, found *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v := c.exit(ref); found != nil && found.node.UUID == ref && !v.written && c.ours(found.node) {
		found.current = true
		c.add(ref, found)
	}
}

// ours reports whether all writes to a node go through the writer beside this cache.
func (c *nodeCache) ours(n *node.Node) bool { return c.group == nil || n.ConductorGroup == *c.group }

// written is a node that a transaction has written; without a document after a delete.
type written struct {
	uuid, doc string
	sealed    []byte
	revision  int64
	away      bool // from then on another conductor writes it
}

// writing begins a visit of nodes that are about to be written, and drops them from the cache. The function it returns
// ends the visits after the write; done means that the write is on the disk.
func (c *nodeCache) writing(nodes []written) (end func(done bool)) {
	ids, self := make([]int64, len(nodes)), new(int)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, w := range nodes {
		v := c.enter(w.uuid)
		v.several = v.several || v.writer != nil && v.writer != self
		v.written, v.writer = true, self
		if e := c.find(w.uuid); e != nil {
			ids[i] = e.id
			c.drop(w.uuid)
		}
	}
	return func(done bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for i, w := range nodes {
			v := c.exit(w.uuid)
			if v.writer == self {
				v.writer = nil
			}
			c.drop(w.uuid) // of one written twice, or listed meanwhile
			if done && !v.several && ids[i] != 0 && w.doc != "" && !w.away {
				c.add(w.uuid, &cached{version: version{ids[i], w.revision}, doc: w.doc, sealed: w.sealed,
					size: len(w.doc) + len(w.sealed), current: true})
			}
		}
	}
}

// decoded returns the node of a row, from the cache when this version of it was decoded
// before. A newly decoded node is kept; it may not be the current version.
func (c *nodeCache) decoded(r *nodeRow) (*cached, error) {
	c.mu.Lock()
	e := c.find(r.uuid)
	c.mu.Unlock()
	if e == nil || e.version != r.version {
		e = &cached{version: r.version, doc: r.doc, sealed: r.sealed, size: len(r.doc) + len(r.sealed)}
	}
	return c.decode(r.uuid, e)
}

// decode returns e with its node, and keeps that in its place.
func (c *nodeCache) decode(uuid string, e *cached) (*cached, error) {
	if e.node != nil {
		return e, nil
	}
	n, err := decodeSealed[node.Node](c.seal, "nodes", uuid, e.doc, e.sealed)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.find(uuid)
	e = &cached{version: e.version, node: &n, size: e.size, current: known == e && e.current}
	if known == nil || !known.current || e.current {
		c.add(uuid, e)
	}
	return e, nil
}

// The rest is called with mu held.

func (c *nodeCache) enter(uuid string) *visit {
	v := c.visits[uuid]
	if v == nil {
		v = &visit{}
		c.visits[uuid] = v
	}
	v.guests++
	return v
}

func (c *nodeCache) exit(uuid string) *visit {
	v := c.visits[uuid]
	if v.guests--; v.guests == 0 {
		delete(c.visits, uuid)
	}
	return v
}

func (c *nodeCache) find(uuid string) *cached {
	if e := c.young[uuid]; e != nil {
		return e
	}
	e := c.old[uuid]
	if e != nil {
		c.add(uuid, e)
	}
	return e
}

func (c *nodeCache) drop(uuid string) {
	if e := c.young[uuid]; e != nil {
		c.size -= e.cost()
		delete(c.young, uuid)
	}
	delete(c.old, uuid)
}

// add makes the young generation the old one when it is full. Entries of the old generation that were not used
// meanwhile are dropped.
func (c *nodeCache) add(uuid string, e *cached) {
	c.drop(uuid)
	if e.cost() > c.limit {
		return // it would have to go at once
	}
	if c.size+e.cost() > c.limit {
		c.old, c.young, c.size = c.young, map[string]*cached{}, 0
	}
	c.young[uuid] = e
	c.size += e.cost()
}

// cost counts the maps and pointers of a node beside its texts.
func (e *cached) cost() int { return e.size + 512 }
