package mem_test

import (
	"errors"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

var errBoom = errors.New("boom")

func TestFail(t *testing.T) {
	commit := func(s store.Store, uuid string) error {
		_, err := s.Commit(t.Context(), node.Change{Insert: &node.Node{UUID: uuid}})
		return err
	}
	for _, c := range []struct {
		name  string
		fault mem.Fault
		errs  [3]error
		kept  int
	}{
		{"the next, before", mem.Fault{Method: "Commit", Nth: 1, Err: errBoom}, [3]error{errBoom, nil, nil}, 2},
		{"the second, after", mem.Fault{Method: "Commit", Nth: 2, After: true, Err: errBoom},
			[3]error{nil, errBoom, nil}, 3},
		{"any method", mem.Fault{Nth: 3, Err: errBoom}, [3]error{nil, nil, errBoom}, 2},
		{"for ever", mem.Fault{Method: "Commit", Err: errBoom}, [3]error{errBoom, errBoom, errBoom}, 0},
		{"another method", mem.Fault{Method: "Claim", Err: errBoom}, [3]error{}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mem.New()
			s.Fail(c.fault)
			for i, want := range c.errs {
				if err := commit(s, string(rune('a'+i))); !errors.Is(err, want) {
					t.Errorf("commit %d: got %v, want %v", i+1, err, want)
				}
			}
			s.Heal()
			all, err := s.Nodes(t.Context(), node.Query{})
			if err != nil || len(all) != c.kept {
				t.Errorf("%d nodes kept (%v), want %d", len(all), err, c.kept)
			}
		})
	}
}
