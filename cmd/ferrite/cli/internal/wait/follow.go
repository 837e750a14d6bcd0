package wait

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Followed is a node that is waited for.
type Followed struct {
	Name   string // as it was typed
	Before nodeapi.Status
	Line   *Line

	done    bool
	refused bool // the request
	err     error
}

// Prepare reads the nodes and gives each a line. A node that does not exist is an error before anything is requested.
func Prepare(ctx context.Context, s *client.Session, screen *Screen, names []string) ([]*Followed, error) {
	found, err := readStatuses(ctx, s, names)
	if err != nil {
		return nil, err
	}
	var all []*Followed
	missing := Each(names, func(name string) error {
		if found[name].err != nil {
			return found[name].err
		}
		all = append(all, &Followed{Name: name, Before: found[name].Status, Line: screen.Line(name, found[name].Status)})
		return nil
	})
	if missing != nil {
		return nil, missing
	}
	return all, nil
}

// Request requests something of every node, few at a time. A locked node is asked again, and so is a server that
// restarts, until ctx ends.
func Request(ctx context.Context, s *client.Session, nodes []*Followed, request func(context.Context, string) error) {
	Some(nodes, func(n *Followed) {
		if n.err = n.request(ctx, s, request); n.err != nil {
			n.done, n.refused = true, true
		}
	})
}

// request sends a request to a node. When the answer is lost, only the node's status can show whether the conductor
// carried the request out.
func (n *Followed) request(ctx context.Context, s *client.Session, request func(context.Context, string) error) error {
	lost := false
	for pause := FirstPoll; ; pause = min(2*pause, LastPoll) {
		err := request(ctx, n.Name)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil: // amid a request, which may have been taken
			return n.cut(ctx)
		case client.Passing(err):
			lost = true
			n.Line.Interrupted(err)
		case lost && !client.Locked(err):
			if st, statusErr := ReadStatus(ctx, s, n.Name); statusErr == nil && n.began(st) {
				return nil
			}
			return err
		case !client.Locked(err):
			return err
		case lost: // locked, perhaps by the request that lost its answer
			if st, statusErr := ReadStatus(ctx, s, n.Name); statusErr == nil && n.began(st) {
				return nil
			}
		default:
			n.Line.locked()
		}
		if Pause(ctx, pause) != nil {
			return n.cut(ctx)
		}
	}
}

// cut is the error of a request that the end of ctx has cut off.
func (n *Followed) cut(ctx context.Context) error {
	said := ""
	if n.Line.Last != "" {
		said = ": " + n.Line.Last
	}
	return exit.Is(Stopped(ctx), fmt.Errorf("node %s: %w before the conductor answered%s\n  to see whether it took the "+
		"request: ferrite node status %s", n.Name, context.Cause(ctx), said, n.Name))
}

// began reports whether something was begun on the node since it was read first.
func (n *Followed) began(st nodeapi.Status) bool {
	b := n.Before
	return st.State != b.State || st.Activity != "" && (st.Activity != b.Activity || !st.Since.Equal(b.Since)) ||
		st.TargetPower != b.TargetPower || st.Power != b.Power
}

// Follow shows the progress of nodes until each is at its goal. They are read together, over one connection. A server
// that restarts is waited for until ctx ends.
// reword words the error of a request.
func Follow(ctx context.Context, s *client.Session, g Goal, nodes []*Followed,
	reword func(name string, err error) error) error {
	for poll := FirstPoll; ; poll = min(poll*3/2, LastPoll) {
		left := waiting(nodes)
		if len(left) == 0 {
			break
		}
		found, err := readStatuses(ctx, s, namesOf(left))
		for _, n := range left {
			switch {
			case ctx.Err() != nil:
				n.end(n.timedOut(ctx))
			case client.Passing(err):
				n.Line.Interrupted(err)
			case err != nil:
				n.end(err)
			default:
				n.look(g, found[n.Name])
			}
		}
		_ = Pause(ctx, poll) // the next look sees its end
	}
	if len(nodes) > 1 {
		nodes[0].Line.print(summary(nodes))
	}
	return Each(namesOf(nodes), func(name string) error {
		for _, n := range nodes {
			if n.Name == name && n.refused {
				return reword(name, n.err)
			} else if n.Name == name {
				return n.err
			}
		}
		return nil
	})
}

// look shows a node's progress, and ends its line when the node has reached the goal.
func (n *Followed) look(g Goal, found statusOf) {
	if found.err != nil {
		n.end(found.err)
		return
	}
	n.Line.Answered()
	n.Line.Show(found.Status)
	if done, err := g.Reached(found.Status); done || err != nil {
		if done {
			n.Line.finish(g.text(found.Status))
			if g.Then != nil {
				g.Then(n.Name, n.Line.Say)
			}
		}
		n.end(err)
	}
}

func (n *Followed) end(err error) {
	n.done, n.err = true, err
	n.Line.Close()
}

// timedOut says in which state a node was when the time was over.
func (n *Followed) timedOut(ctx context.Context) error {
	return exit.Is(Stopped(ctx), fmt.Errorf("node %s: %w; it was %s\n  the conductor continues: ferrite node status %s",
		n.Name, context.Cause(ctx), cmp.Or(n.Line.Last, "as before"), n.Name))
}

func waiting(nodes []*Followed) (left []*Followed) {
	for _, n := range nodes {
		if !n.done {
			left = append(left, n)
		}
	}
	return left
}

func namesOf(nodes []*Followed) (names []string) {
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	return names
}
