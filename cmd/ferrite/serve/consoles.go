package serve

import (
	"context"
	"log/slog"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/bootlog"
	"github.com/ferrite-metal/ferrite/conductor/console"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// consoles are the serial consoles of all nodes, until ctx ends. Their output begins the logs
// of boots; kept waits until BMCs have their lines back.
func (c Config) consoles(ctx context.Context, kept *sync.WaitGroup, eng *engine.Engine, bmcs map[string]engine.BMC,
	logs *bootlog.Keeper, log *slog.Logger) *console.Consoles {
	all := console.New(ctx, console.Config{Open: eng.OpenConsole, Log: log,
		Recorded: func(ctx context.Context) ([]string, error) {
			var uuids []string
			for driver, b := range bmcs {
				if _, able := b.(core.ConsoleOpener); !able {
					continue // its nodes need not be read
				}
				nodes, err := eng.Nodes(ctx, node.Query{Driver: driver, ConductorGroup: eng.Group})
				if err != nil {
					return nil, err
				}
				for _, n := range nodes {
					if c.ConsoleLog || n.ConsoleEnabled {
						uuids = append(uuids, n.UUID)
					}
				}
			}
			return uuids, nil
		}})
	logs.BeforeBoot(all.BootLog)
	kept.Go(all.Run)
	return all
}
