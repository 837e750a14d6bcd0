package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// TestWalkWhileNodesGo: nodes that are deleted while a page is read leave no gap at its end, which clients would take
// for the end of the list.
func TestWalkWhileNodesGo(t *testing.T) {
	s := mem.New()
	e, end := enginetest.StartOn(t, s, "one")
	defer end()
	uuid := func(i int) string { return fmt.Sprintf("11111111-0000-4000-8000-%012d", i) }
	for i := range 8 { // each a batch of its own
		enginetest.Offer(t, s, uuid(i), "bm", func(n *node.Node) {
			n.Extra = map[string]any{"large": strings.Repeat("x", 1<<20)}
		})
	}
	var got []string
	err := e.WalkNodes(t.Context(), node.Query{Limit: 4}, func(n *node.Node) bool {
		if len(got) == 0 {
			for _, i := range []int{1, 3} {
				if err := e.DeleteNode(t.Context(), uuid(i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		got = append(got, n.UUID)
		return true
	})
	if want := fmt.Sprint([]string{uuid(0), uuid(2), uuid(4), uuid(5)}); err != nil || fmt.Sprint(got) != want {
		t.Errorf("walked %v, %v, want %s", got, err, want)
	}
}
