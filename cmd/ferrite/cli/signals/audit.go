package signals

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// AuditCommand is ferrite audit.
func AuditCommand(s *client.Session) *cobra.Command {
	var of, user string
	c := &cobra.Command{
		Use:   "audit",
		Short: "Show who asked the conductor for what",
		Long: `Show a line for each request that has changed something, or was refused: when, who, from where,
what, the answer, and the fields as they were and are. Oldest first. It is for admins.

Entries are never deleted, and outlive their nodes. ferrite audit verify finds changed ones.`,
		Example: "  ferrite audit --node web-1\n  ferrite audit --user ada -o json\n  ferrite audit verify",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.Output == "yaml" {
				return errors.New("--output yaml: expected table or json, which come line by line")
			}
			return eachEntry(cmd.Context(), s, of, func(l nodeapi.AuditLine, raw []byte) error {
				var e nodeapi.AuditEntry
				if err := json.Unmarshal(l.Entry, &e); err != nil {
					return fmt.Errorf("entry %d: %w", l.ID, err)
				}
				if user != "" && e.User != user && e.Account != user {
					return nil
				}
				text := output.VisibleJSON(raw)
				if s.Output != "json" {
					text = output.ScreenOf(cmd.OutOrStdout()).Wrap(output.VisibleLine(entryText(e)))
				}
				_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
				return err
			})
		},
	}
	c.Flags().StringVar(&of, "node", "", "only requests that changed this `NODE`; of a deleted one, its UUID")
	c.Flags().StringVar(&user, "user", "", "only requests of this `user`, and refused logins as them")
	c.AddCommand(auditVerify(s))
	return c
}

func auditVerify(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check that no entry of the audit was changed or is missing",
		Long: `Read the whole audit and check its chains of hashes. It fails at the first entry that was changed,
or that others are missing before. Keep the ends that it prints elsewhere: entries that were cut off
from the end of the last chain are only found by comparing them.`,
		Example: "  ferrite audit verify",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var check nodeapi.AuditCheck
			err := eachEntry(cmd.Context(), s, "", func(l nodeapi.AuditLine, _ []byte) error { return check.Add(l) })
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "ok: %d entries\n", check.Count)
			for _, end := range check.Ends() {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: entry %d, %s\n", output.VisibleLine(end.Chain), end.Number,
					output.VisibleLine(end.Hash))
			}
			return nil
		},
	}
}

// maxEntry bounds one line of the answer.
const maxEntry = 4 << 20

// eachEntry calls visit with every entry, page by page.
func eachEntry(ctx context.Context, s *client.Session, of string, visit func(l nodeapi.AuditLine,
	raw []byte) error) error {
	for after := int64(0); ; {
		before := after
		args := url.Values{"after": {strconv.FormatInt(after, 10)}}
		if of != "" {
			args.Set("node", of)
		}
		path := nodeapi.FerriteRoot + "/audit?" + args.Encode()
		body, err := s.Client.Open(ctx, client.Request{Method: http.MethodGet, Path: path, Accept: nodeapi.MediaLines})
		if client.Unserved(err) {
			return fmt.Errorf("%s keeps no audit: it is no Ferrite, or an older one", s.Client.Base)
		}
		if err != nil {
			return err
		}
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, maxEntry)
		for lines.Scan() && err == nil {
			var l nodeapi.AuditLine
			if err = json.Unmarshal(lines.Bytes(), &l); err != nil {
				err = fmt.Errorf("GET %s: the answer is not that of a conductor: %w", path, err)
				break
			}
			after = max(after, l.ID)
			err = visit(l, lines.Bytes())
		}
		if err = errors.Join(err, lines.Err(), body.Close()); err != nil || after == before {
			return err
		}
	}
}

// entryText is an entry as a line for people.
func entryText(e nodeapi.AuditEntry) string {
	who := cmp.Or(e.User, "-")
	if e.Account != "" {
		who = "? as " + e.Account
	}
	of := cmp.Or(e.Name, e.Node)
	at := e.At
	if t, err := time.Parse(time.RFC3339Nano, e.At); err == nil {
		at = output.Time(t)
	}
	line := fmt.Sprintf("%s  %s from %s  %s %s  %d", at, who, cmp.Or(e.From, "-"), e.Method, e.Path, e.Status)
	if of != "" {
		line += "  " + of
	}
	var changes []string
	for _, c := range e.Changes {
		changes = append(changes, fmt.Sprintf("%s: %s -> %s", c.Field, cmp.Or(c.Old, "none"), cmp.Or(c.New, "none")))
	}
	if len(changes) > 0 {
		line += "  " + strings.Join(changes, "; ")
	}
	if e.Omitted > 0 {
		line += fmt.Sprintf("  (%d refused requests before have no entry)", e.Omitted)
	}
	if e.Note != "" {
		line += "  " + e.Note
	}
	return line
}
