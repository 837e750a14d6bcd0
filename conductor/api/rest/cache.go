package rest

import "sync"

// CacheKey names one rendering of one node. The revision grows with every
// save, and a node deleted and enrolled again was created at another time, so
// an entry is never wrong, only unused.
type CacheKey struct {
	UUID     string
	Created  int64 // unix microseconds
	Revision int64
	Minor    int
	Fields   string
	Base     string
	Host     string // the node's conductor
	Reserved string
}

// Cache keeps rendered nodes in two generations. When the young one is full it becomes the old one, and the unused
// entries of the former old one are gone.
type Cache struct {
	mu         sync.Mutex
	limit      int // bytes of a generation
	size       int
	young, old map[CacheKey][]byte
}

// NewCache makes a cache of so many bytes.
func NewCache(bytes int) *Cache {
	return &Cache{limit: bytes / 2, young: map[CacheKey][]byte{}}
}

// Get returns a rendering that is kept.
func (c *Cache) Get(k CacheKey) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, ok := c.young[k]
	if ok {
		return body, true
	}
	if body, ok = c.old[k]; ok {
		c.add(k, body)
	}
	return body, ok
}

// Put keeps a rendering.
func (c *Cache) Put(k CacheKey, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(k, body)
}

func (c *Cache) add(k CacheKey, body []byte) {
	cost := k.cost() + len(body)
	if cost > c.limit {
		return // it would have to go at once
	}
	if c.size+cost > c.limit {
		c.old, c.young, c.size = c.young, map[CacheKey][]byte{}, 0
	}
	c.young[k] = body
	c.size += cost
}

// cost is the memory of a key, with its place in the map. Clients choose the fields and the base, which can be far
// longer than the answer.
func (k *CacheKey) cost() int {
	const overhead = 200
	return overhead + len(k.UUID) + len(k.Fields) + len(k.Base) + len(k.Reserved)
}
