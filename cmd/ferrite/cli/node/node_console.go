package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/coder/websocket"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeConsole(s *client.Session) *cobra.Command {
	var take, readOnly bool
	c := &cobra.Command{
		Use:   "console NODE",
		Short: "Use the machine's serial console",
		Long: `Use the machine's serial console, by SSH or serial over LAN of its BMC (drivers ipmi and redfish).
The last 64 KiB of a console that is open already come first. One user writes, others read.

At the start of a line, ~. ends it, ~? shows help, and ~~ is a tilde.
If the input is not a terminal, it is sent, and output continues until Ctrl-C.
A conductor that restarts is connected again, for ten minutes.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if take && readOnly {
				return errors.New("--take is for writing: leave out --read-only")
			}
			q := url.Values{}
			if take {
				q.Set("take", strconv.FormatBool(take))
			}
			if readOnly {
				q.Set("write", strconv.FormatBool(!readOnly))
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			path := client.FerritePath(args[0], "console?"+q.Encode())
			return useConsole(ctx, cmd, func(ctx context.Context) (*websocket.Conn, error) {
				socket, err := s.Client.Socket(ctx, path, nodeapi.ConsoleProtocol)
				return socket, s.Older(err, "has no serial consoles")
			})
		},
	}
	c.Flags().BoolVar(&take, "take", false,
		"write although another user does, and end another program's serial over LAN")
	c.Flags().BoolVar(&readOnly, "read-only", false, "read alone, so that nothing is typed by mistake")
	return c
}

// useConsole connects a terminal with a console until one of them ends. A conductor that stops, or is lost, is
// connected again.
func useConsole(ctx context.Context, cmd *cobra.Command, open opener) (err error) {
	socket, err := open(ctx)
	if err != nil {
		return err
	}
	if f, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		state, err := term.MakeRaw(int(f.Fd()))
		if err != nil {
			_ = socket.CloseNow()
			return fmt.Errorf("terminal: %w", err)
		}
		defer func() {
			err = errors.Join(err, term.Restore(int(f.Fd()), state))
			fmt.Fprintln(cmd.ErrOrStderr())
		}()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var t consoleTerminal
	t.join(socket)
	go t.typing(ctx, cancel, cmd) // ends with the program: reading a terminal cannot be ended
	for {
		lost, err := showConsole(ctx, cmd, socket)
		t.join(nil)
		_ = socket.CloseNow()
		if lost == "" {
			return err
		}
		notice(cmd, lost+" Connecting again; ~. ends it. Keys typed now are lost.")
		if socket, err = reopen(ctx, open); err != nil {
			if errors.Is(context.Cause(ctx), errTyped) || ctx.Err() != nil {
				return nil
			}
			return err
		}
		t.join(socket)
		notice(cmd, "Connected again.")
	}
}

// showConsole prints until the console ends. lost says why the connection is, if it may be made again.
func showConsole(ctx context.Context, cmd *cobra.Command, socket *websocket.Conn) (lost string, err error) {
	socket.SetReadLimit(-1) // the server decides how much it sends at a time
	for {
		kind, data, err := socket.Read(ctx)
		switch {
		case err != nil && (ctx.Err() != nil || websocket.CloseStatus(err) == websocket.StatusNormalClosure):
			return "", nil
		case websocket.CloseStatus(err) == websocket.StatusGoingAway:
			return "The conductor is stopping.", nil
		case websocket.CloseStatus(err) == websocket.StatusTryAgainLater:
			return "Too many are connected: another user got this place.", nil
		case websocket.CloseStatus(err) == websocket.StatusPolicyViolation:
			return "", errors.New("the conductor has ended the console: your right to it has ended")
		case err != nil:
			return fmt.Sprintf("The connection with the conductor is lost: %v.", err), nil
		case kind == websocket.MessageBinary:
			if _, err := cmd.OutOrStdout().Write(data); err != nil {
				return "", err
			}
			continue
		}
		var e nodeapi.ConsoleEvent
		if err := json.Unmarshal(data, &e); err != nil {
			return "", fmt.Errorf("the console's server sent no event: %w", err)
		}
		if e.Error != "" {
			return "", errors.New(nodeapi.Printable(e.Error))
		}
		if e.Text == "" && e.Role == "writer" {
			e.Text = "You write here. ~. at the start of a line ends it, ~? helps."
		}
		if e.Text != "" {
			notice(cmd, e.Text)
		}
	}
}

// notice prints a sentence that is none of the machine's.
func notice(cmd *cobra.Command, text string) {
	fmt.Fprintf(cmd.ErrOrStderr(), "\r\n[%s]\r\n", nodeapi.Printable(text))
}

var errTyped = errors.New("~. was typed")
