package rest

import (
	"strings"
	"testing"
)

// TestCacheCountsKeys: the bound of the cache includes its keys. A client that requests the same few bytes in ever
// other words does not exceed it.
func TestCacheCountsKeys(t *testing.T) {
	const limit = 1 << 20
	c := NewCache(limit)
	words := strings.Repeat("uuid,", 2000)
	for i := range 1000 {
		c.Put(CacheKey{UUID: "u", Revision: int64(i), Fields: words, Base: words}, []byte("{}"))
	}
	held := 0
	for _, generation := range []map[CacheKey][]byte{c.young, c.old} {
		for k, body := range generation {
			held += len(k.Fields) + len(k.Base) + len(body)
		}
	}
	if held > limit {
		t.Errorf("the cache holds %d bytes, its limit is %d", held, limit)
	}
	last := CacheKey{UUID: "u", Revision: 999, Fields: words, Base: words}
	if _, ok := c.Get(last); !ok {
		t.Error("the last answer is not kept")
	}
	huge := CacheKey{UUID: "huge"}
	c.Put(huge, make([]byte, limit))
	if _, ok := c.Get(huge); ok {
		t.Error("an answer larger than the cache is kept")
	}
	if _, ok := c.Get(last); !ok {
		t.Error("an answer larger than the cache took another's place")
	}
}
