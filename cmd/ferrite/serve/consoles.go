package serve

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/bmc/console"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// consoles are the serial consoles of all nodes, until ctx ends. Their output begins the logs
// of boots, and the work ends once BMCs have their lines back.
func (w *work) consoles(ctx context.Context) *console.Consoles {
	all := console.New(ctx, console.Config{Open: w.engine.OpenConsole, Log: w.log,
		Recorded: func(ctx context.Context) ([]string, error) {
			return recordedConsoles(ctx, w.engine, w.engine.Group, w.engine.BMCs, w.conf.ConsoleLog)
		}})
	w.logs.BeforeBoot(all.BootLog)
	w.kept.Go(all.Run)
	return all
}

// nodeLister is the part of the engine that lists nodes.
type nodeLister interface {
	NodeUUIDs(ctx context.Context, q node.Query) ([]string, error)
}

// recordedConsoles lists the nodes of a group with a console to keep open: the enabled consoles, or all. It runs four
// times a minute, and must not read a large room's nodes.
func recordedConsoles(
	ctx context.Context, nodes nodeLister, group *string, bmcs map[string]engine.BMC, all bool,
) (uuids []string, err error) {
	q := node.Query{ConductorGroup: group}
	if !all {
		enabled := true
		q.ConsoleEnabled = &enabled
	}
	for driver, b := range bmcs {
		if _, able := b.(core.ConsoleOpener); !able {
			continue // its nodes need not be read
		}
		q.Equal = map[string]string{"driver": driver}
		of, err := nodes.NodeUUIDs(ctx, q)
		if err != nil {
			return nil, err
		}
		uuids = append(uuids, of...)
	}
	return uuids, nil
}
