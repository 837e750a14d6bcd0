package api

import "sync"

// cacheKey names one rendering of one node. The revision grows with every
// save, and a node deleted and enrolled again was created at another time, so
// an entry is never wrong, only unused.
type cacheKey struct {
	uuid     string
	created  int64 // unix microseconds
	revision int64
	minor    int
	fields   string
	base     string
	reserved string
}

// cache keeps rendered nodes in two generations: when the young one is full it
// becomes the old one, and what the old one held unused is gone.
type cache struct {
	mu         sync.Mutex
	limit      int // bytes of a generation
	size       int
	young, old map[cacheKey][]byte
}

func newCache(bytes int) *cache {
	return &cache{limit: bytes / 2, young: map[cacheKey][]byte{}}
}

func (c *cache) get(k cacheKey) ([]byte, bool) {
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

func (c *cache) put(k cacheKey, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(k, body)
}

func (c *cache) add(k cacheKey, body []byte) {
	cost := k.cost() + len(body)
	if cost > c.limit {
		return // it would have to go at once
	}
	if c.size+cost > c.limit {
		c.old, c.young, c.size = c.young, map[cacheKey][]byte{}, 0
	}
	c.young[k] = body
	c.size += cost
}

// cost is what a key takes in memory, with its place in the map. The fields and
// the base are the client's words, which can be far longer than the answer.
func (k *cacheKey) cost() int {
	const overhead = 200
	return overhead + len(k.uuid) + len(k.fields) + len(k.base) + len(k.reserved)
}
