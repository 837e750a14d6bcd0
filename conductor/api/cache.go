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
	const overhead = 200 // the key and the map
	if c.size+len(body)+overhead > c.limit {
		c.old, c.young, c.size = c.young, map[cacheKey][]byte{}, 0
	}
	c.young[k] = body
	c.size += len(body) + overhead
}
