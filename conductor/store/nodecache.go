package store

import (
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// cacheBytes bounds the documents whose nodes the cache keeps, two generations
// together: some thousands of nodes. Decoded they take about four times that.
const cacheBytes = 6 << 20

// version names one state of one node for ever: an id is never used twice, and
// the revision grows with every save.
type version struct{ id, revision int64 }

// nodeRow is what nodeRowColumns select.
type nodeRow struct {
	version
	uuid, doc string
}

const nodeRowColumns = "id, revision, uuid, doc"

func (r *nodeRow) places() []any { return []any{&r.id, &r.revision, &r.uuid, &r.doc} }

// cached is a node as it was decoded, which was three quarters of the cost of a
// list when it was measured.
type cached struct {
	version
	node    node.Node // shared by all readers
	size    int       // of its document
	current bool      // no later version is on the disk, nor on its way there
}

// nodeCache keeps decoded nodes in two generations, as the API keeps rendered
// ones. What it has of a version is never wrong. That a version is the current
// one it knows because all writes of the file go through the writer beside it,
// which enters every node it is about to write, and leaves when that is over.
type nodeCache struct {
	mu         sync.Mutex
	limit      int // bytes of a generation
	size       int
	young, old map[string]*cached
	visits     map[string]*visit
}

// visit is what goes on with one node: reads of its row, or a write. Those that
// overlap share one.
type visit struct {
	guests  int
	written bool // whatever these reads find may be overtaken already
}

func newNodeCache(bytes int) *nodeCache {
	return &nodeCache{limit: bytes / 2, young: map[string]*cached{}, visits: map[string]*visit{}}
}

// current returns the node of a UUID when it is known, and otherwise enters it:
// the caller reads it from the disk, and then leaves.
func (c *nodeCache) current(uuid string) (n node.Node, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.find(uuid); e != nil && e.current {
		return e.node.Clone(), true
	}
	c.enter(uuid)
	return node.Node{}, false
}

// leave ends a read that current began. found is what it found, nil for nothing.
func (c *nodeCache) leave(uuid string, found *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if written := c.exit(uuid); found != nil && !written {
		found.current = true
		c.add(uuid, found)
	}
}

// writing enters nodes that are about to be written, and forgets them; the
// function it returns leaves, once the write has come to its end, whichever.
func (c *nodeCache) writing(uuids []string) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, uuid := range uuids {
		c.enter(uuid).written = true
		c.drop(uuid)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, uuid := range uuids {
			c.exit(uuid)
		}
	}
}

// decoded returns the node of a row, from the cache when this version of it was
// decoded before. What a list has to decode is kept as it is: whether it is
// current, nobody knows.
func (c *nodeCache) decoded(r *nodeRow, list bool) (*cached, error) {
	c.mu.Lock()
	e := c.find(r.uuid)
	c.mu.Unlock()
	if e != nil && e.version == r.version {
		return e, nil
	}
	n, err := decode[node.Node](r.doc)
	if err != nil {
		return nil, err
	}
	e = &cached{version: r.version, node: n, size: len(r.doc)}
	if list {
		c.mu.Lock()
		defer c.mu.Unlock()
		if known := c.find(r.uuid); known == nil || !known.current {
			c.add(r.uuid, e)
		}
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

func (c *nodeCache) exit(uuid string) (written bool) {
	v := c.visits[uuid]
	if v.guests--; v.guests == 0 {
		delete(c.visits, uuid)
	}
	return v.written
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

// add makes a generation of the young when they are too many; what the old one
// held unused is gone.
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
