package serve

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// withConsole is a driver that has consoles.
type withConsole struct{ engine.BMC }

func (withConsole) OpenConsole(context.Context, node.Node, bool) (io.ReadWriteCloser, error) {
	return nil, errors.New("not in this test")
}

// TestRecordedConsoles: the group's consoles with a capable driver are kept open: the enabled ones, or all.
func TestRecordedConsoles(t *testing.T) {
	db, far, none := mem.New(), "far", ""
	for _, n := range []node.Node{
		{UUID: "plain", Driver: "able"}, {UUID: "on", Driver: "able", ConsoleEnabled: true},
		{UUID: "far-on", Driver: "able", ConsoleEnabled: true, ConductorGroup: far},
		{UUID: "deaf-on", Driver: "deaf", ConsoleEnabled: true}, {UUID: "other-on", Driver: "other", ConsoleEnabled: true},
	} {
		if _, err := db.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
			t.Fatal(err)
		}
	}
	drivers := map[string]engine.BMC{"able": withConsole{}, "deaf": struct{ engine.BMC }{}}
	for name, c := range map[string]struct {
		group *string
		all   bool
		want  []string
	}{
		"enabled":      {nil, false, []string{"far-on", "on"}},
		"of the group": {&none, false, []string{"on"}},
		"of another":   {&far, false, []string{"far-on"}},
		"all":          {&none, true, []string{"on", "plain"}},
	} {
		got, err := recordedConsoles(t.Context(), db, c.group, drivers, c.all)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v (%v), want %v", name, got, err, c.want)
		}
	}
}
