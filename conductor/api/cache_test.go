package api

import (
	"strings"
	"testing"
)

// TestCacheCountsKeys: a client that asks for the same few bytes in ever other
// words does not make the cache larger than it may be.
func TestCacheCountsKeys(t *testing.T) {
	const limit = 1 << 20
	c := newCache(limit)
	words := strings.Repeat("uuid,", 2000)
	for i := range 1000 {
		c.put(cacheKey{uuid: "u", revision: int64(i), fields: words, base: words}, []byte("{}"))
	}
	held := 0
	for _, generation := range []map[cacheKey][]byte{c.young, c.old} {
		for k, body := range generation {
			held += len(k.fields) + len(k.base) + len(body)
		}
	}
	if held > limit {
		t.Errorf("the cache holds %d bytes, its limit is %d", held, limit)
	}
	last := cacheKey{uuid: "u", revision: 999, fields: words, base: words}
	if _, ok := c.get(last); !ok {
		t.Error("the last answer is not kept")
	}
	huge := cacheKey{uuid: "huge"}
	c.put(huge, make([]byte, limit))
	if _, ok := c.get(huge); ok {
		t.Error("an answer larger than the cache is kept")
	}
	if _, ok := c.get(last); !ok {
		t.Error("an answer larger than the cache took another's place")
	}
}
