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
	"slices"
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
		Short: "Show requests to the conductor and their users",
		Long: `Show a line for each request that has changed something, or was refused: time, user, address,
request, answer, and the fields before and after. Oldest first. It is for admins.

Entries outlive their nodes. Only ferrite audit prune and the conductor's --audit-keep delete old ones.
ferrite audit verify finds changed and missing ones.`,
		Example: "  ferrite audit --node web-1\n  ferrite audit --user ada -o json\n  ferrite audit verify",
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
	c.AddCommand(auditVerify(s), auditPrune(s))
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			check, err := verified(cmd.Context(), s)
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

// verified checks the whole audit, and again when old entries were deleted meanwhile.
func verified(ctx context.Context, s *client.Session) (check nodeapi.AuditCheck, err error) {
	pruned, err := prunedEnds(ctx, s)
	for err == nil {
		check = nodeapi.AuditCheck{}
		check.Begin(pruned)
		if err = eachEntry(ctx, s, "", func(l nodeapi.AuditLine, _ []byte) error { return check.Add(l) }); err == nil {
			err = check.Done()
		}
		if err == nil {
			return check, nil
		}
		now, lost := prunedEnds(ctx, s)
		if lost != nil || slices.Equal(now, pruned) {
			return check, err
		}
		pruned, err = now, nil
	}
	return check, err
}

// prunedEnds returns the ends of the deleted parts; none from an older conductor, which deletes nothing.
func prunedEnds(ctx context.Context, s *client.Session) ([]nodeapi.AuditLink, error) {
	var ends nodeapi.AuditPruned
	err := s.Client.Do(ctx, http.MethodGet, auditPruned, nil, &ends)
	if client.Unserved(err) {
		return nil, nil
	}
	return ends.Pruned, err
}

const auditPruned = nodeapi.FerriteRoot + "/audit/pruned"

func auditPrune(s *client.Session) *cobra.Command {
	var before string
	c := &cobra.Command{
		Use:   "prune",
		Short: "Delete old entries of the audit",
		Long: `Delete the entries before a time, which is 30 days ago or more. An entry of the audit says who did
it, and has the last hash of what is deleted, so that ferrite audit verify still checks the rest.
The newest entry of each conductor before that time stays.`,
		Example: "  ferrite audit prune --before 2026-01-01",
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := time.Parse(time.DateOnly, before)
			if err != nil {
				if at, err = time.Parse(time.RFC3339, before); err != nil {
					return fmt.Errorf("--before %q: expected a date as 2026-01-31, or a time as 2026-01-31T00:00:00Z", before)
				}
			}
			var done nodeapi.AuditPruned
			body := map[string]string{"before": at.Format(time.RFC3339)}
			if err := s.Client.Do(cmd.Context(), http.MethodPost, auditPruned, body, &done); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d entries deleted\n", done.Entries)
			return nil
		},
	}
	c.Flags().StringVar(&before, "before", "", "delete entries before this `date` or time (UTC)")
	_ = c.MarkFlagRequired("before") // which exists
	return c
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
		if err != nil {
			return s.Older(err, "keeps no audit")
		}
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, maxEntry)
		for lines.Scan() && err == nil {
			var l nodeapi.AuditLine
			if err = json.Unmarshal(lines.Bytes(), &l); err != nil {
				err = fmt.Errorf("GET %s: the answer is not a conductor's: %w", path, err)
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
