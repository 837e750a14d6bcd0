package fsm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node/fsm"
)

type (
	state string
	event string
	row   struct {
		from state
		on   event
		to   state
		why  string
	}
)

func (r row) Edge() (state, event, state) { return r.from, r.on, r.to }
func (r row) Label() string               { return string(r.on) }
func (r row) Reason() string              { return r.why }

var machine = fsm.New([]row{
	{"", "build", "not-locked", "a wall has a hole"},
	{"not-locked", "lock", "locked fast", "it is night"},
	{"locked fast", "unlock", "not-locked", "it is day"},
})

func TestNext(t *testing.T) {
	if next, ok := machine.Next("not-locked", "lock"); !ok || next != "locked fast" {
		t.Errorf("got %q, %v", next, ok)
	}
	if next, ok := machine.Next("not-locked", "unlock"); ok || next != "not-locked" ||
		machine.Row("not-locked", "unlock") != nil {
		t.Errorf("a row that is not there leads to %q, %v", next, ok)
	}
}

func TestMermaid(t *testing.T) {
	want := "stateDiagram-v2\n    none --> not_locked: build\n    not_locked --> locked_fast: lock\n    locked_fast --> " +
		"not_locked: unlock\n"
	if diff := cmp.Diff(want, machine.Mermaid()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCheck(t *testing.T) {
	for name, tc := range map[string]struct {
		rows []row
		want []string
	}{
		"sound":       {[]row{{"a", "go", "b", "x"}}, nil},
		"twins":       {[]row{{"a", "go", "b", "x"}, {"a", "go", "a", "x"}}, []string{`two rows for "a" on "go"`}},
		"no reason":   {[]row{{"a", "go", "b", ""}}, []string{`"a" on "go" has no reason`}},
		"unreachable": {[]row{{"a", "go", "a", "x"}}, []string{`"b" cannot be reached`}},
		"a dead end":  {[]row{{"b", "go", "b", "x"}}, []string{`"a" cannot be left`, `"b" cannot be reached`}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, fault := range fsm.New(tc.rows).Check([]state{"a", "b"}, []state{"a"}, []state{"b"}) {
				got = append(got, fault.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
