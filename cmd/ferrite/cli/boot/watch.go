// Package boot is `ferrite boot`: the network that machines boot from, as the conductor sees it.
package boot

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// maxLine bounds one line of the answer.
const maxLine = 64 << 10

// reopen is between two requests of one watch.
const reopen = time.Second

func watchCommand(s *client.Session) *cobra.Command {
	q := nodeapi.BootQuery{Follow: true}
	c := &cobra.Command{
		Use:   "watch",
		Short: "Show requests on the boot network, and the reason for each one without an answer",
		Long: `Show a line for each DHCP request, TFTP read and boot HTTP request: the machine, its address or
relay, the request, and the answer. A request without an answer has the reason, and what to do.
Other DHCP servers on that network are named first. Ctrl-C ends it.

The conductor keeps the last 20 events of each node and 8 of each machine that is no node. With
-o json each line is one JSON object.`,
		Example: `  ferrite boot watch
  ferrite boot watch --node web-1 --since 1h
  ferrite boot watch --follow=false -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.Output == "yaml" {
				return errors.New("--output yaml: expected table or json, which come line by line")
			}
			if q.Since < 0 {
				return fmt.Errorf("--since %s: expected how far to look back, as 5m", q.Since)
			}
			if q.MAC != "" {
				mac, err := net.ParseMAC(q.MAC)
				if err != nil || len(mac) != 6 {
					return fmt.Errorf("--mac %q: expected a MAC such as 52:54:00:12:34:56", q.MAC)
				}
				q.MAC = mac.String()
			}
			w := watcher{session: s, out: cmd.OutOrStdout(), query: q}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			err := w.run(ctx)
			if q.Follow && errors.Is(err, context.Canceled) {
				return nil // Ctrl-C is how watching ends
			}
			return s.Older(err, "has no boot network to watch")
		},
	}
	c.Flags().DurationVar(&q.Since, "since", 5*time.Minute, "show also the requests of so long before")
	c.Flags().StringVar(&q.MAC, "mac", "", "only the machine with this `MAC`")
	c.Flags().StringVar(&q.Node, "node", "", "only the ports of this `NODE`")
	c.Flags().BoolVarP(&q.Follow, "follow", "f", true, "continue with new requests")
	return c
}

// watcher prints the events of a boot network.
type watcher struct {
	session *client.Session
	out     io.Writer
	query   nodeapi.BootQuery
	titled  bool
}

// run follows from one answer to the next: the conductor ends each after half an hour.
func (w *watcher) run(ctx context.Context) error {
	for {
		if err := w.once(ctx); err != nil || !w.query.Follow {
			return err
		}
		if err := wait.Pause(ctx, reopen); err != nil {
			return err
		}
	}
}

func (w *watcher) once(ctx context.Context) error {
	path := nodeapi.FerriteRoot + "/boot/watch?" + w.query.Values().Encode()
	body, err := w.session.Client.Open(ctx, client.Request{Method: http.MethodGet, Path: path, Accept: nodeapi.MediaLines})
	if err != nil {
		return err
	}
	defer body.Close()
	again := w.query.After != 0
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var l nodeapi.BootLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return fmt.Errorf("GET %s: the answer is not a conductor's: %w", path, err)
		}
		if l.Event != nil {
			w.query.After = l.Event.ID
		}
		if l.Server != nil && again { // shown before
			continue
		}
		if err := w.print(lines.Bytes(), l); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("GET %s: the answer ended early: %w", path, err)
	}
	return nil
}

// print writes one line, as it came or for people.
func (w *watcher) print(raw []byte, l nodeapi.BootLine) error {
	text := output.VisibleJSON(raw)
	if w.session.Output != "json" {
		text = lineText(l)
		if l.Event != nil && !w.titled {
			w.titled = true
			text = title() + "\n" + text
		}
	}
	_, err := fmt.Fprintln(w.out, text)
	return err
}

const help = `Watch the network that machines boot from, and print what a DHCP server of your own needs.`

// Command is ferrite boot.
func Command(s *client.Session) *cobra.Command {
	return client.Group("boot", "Watch and set up the network that machines boot from", help, watchCommand(s))
}
