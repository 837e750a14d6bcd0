package inventory

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

// eraseReportPage says which part of the list of all reports is wanted.
type eraseReportPage struct {
	limit  int
	marker string
	newest bool
}

func eraseReportList(s *client.Session) *cobra.Command {
	var page eraseReportPage
	cmd := &cobra.Command{
		Use:   "list [NODE...]",
		Short: "List the erase reports of all machines, or of some; name a deleted node by its UUID",
		Long: `List the erase reports of all machines, also of deleted nodes, or those of some
machines. Name a deleted node by its UUID. The oldest report comes first.`,
		Example: `  ferrite erase-report list --newest-first --limit 20
  ferrite erase-report list m1 m2
  ferrite erase-report list --selector shard=east -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := page.check(args); err != nil {
				return err
			}
			read := func() ([]json.RawMessage, error) { return page.read(cmd, s) }
			if len(args) > 0 {
				read = func() ([]json.RawMessage, error) { return eraseReportsOf(cmd, s, args) }
			}
			reports, err := read()
			if err != nil {
				return s.Older(err, lacks)
			}
			reply, err := json.Marshal(reports)
			if err != nil {
				return err
			}
			rows := output.RowsOf(s, reply, eraseReportColumns(s, len(args) != 1))
			return output.PrintAny(s, cmd.OutOrStdout(), reply, rows)
		},
	}
	f := cmd.Flags()
	f.IntVar(&page.limit, "limit", 0, "largest number of reports; 0 for all")
	f.StringVar(&page.marker, "marker", "", "UUID of the last report of the previous page")
	f.BoolVar(&page.newest, "newest-first", false, "begin with the newest report")
	return cmd
}

// check refuses pages for named nodes: their reports come in one answer, since a node has some 200 reports at most.
func (p eraseReportPage) check(named []string) error {
	switch {
	case p.limit < 0:
		return exit.Usage(errors.New("--limit: expected a number of reports, or 0 for all"))
	case len(named) > 0 && p != (eraseReportPage{}):
		return exit.Usage(errors.New("--limit, --marker and --newest-first are for the list of all machines: leave them " +
			"out, or the nodes"))
	}
	return nil
}

// read reads a part of the list of all reports.
func (p eraseReportPage) read(cmd *cobra.Command, s *client.Session) ([]json.RawMessage, error) {
	q := url.Values{}
	if p.limit > 0 {
		q.Set("limit", strconv.Itoa(p.limit))
	}
	if p.marker != "" {
		q.Set("marker", p.marker)
	}
	if p.newest {
		q.Set("sort_dir", "desc")
	}
	all, err := s.Client.PagesAt(cmd.Context(), eraseReportsPath, "erase_reports", q, p.limit)
	if p.limit > 0 && len(all) > p.limit {
		all = all[:p.limit]
	}
	return all, err
}

// eraseReportsOf reads the reports of some nodes, one node after the other.
func eraseReportsOf(cmd *cobra.Command, s *client.Session, nodes []string) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	for _, ref := range nodes {
		var reply struct {
			EraseReports []json.RawMessage `json:"erase_reports"`
		}
		if err := s.Client.Do(cmd.Context(), "GET", client.FerritePath(ref, "erase-reports"), nil, &reply); err != nil {
			return nil, err
		}
		all = append(all, reply.EraseReports...)
	}
	return all, nil
}

// eraseReportColumns fit a terminal with names of some ten letters. The name is that at the
// time of the report, since the node may be no more.
func eraseReportColumns(s *client.Session, withNode bool) []output.Column {
	columns := output.Columns("uuid")
	if withNode || s.Wide() {
		columns = append(columns, output.Column{Field: "node", Text: func(item map[string]any) string {
			return cmp.Or(output.Cell(item["node_name"]), output.Cell(item["node_uuid"]))
		}})
	}
	signed := output.Column{Field: "signed_at", Head: "signed", Text: func(item map[string]any) string {
		text := output.Cell(item["signed_at"])
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at.Local().Format("2006-01-02 15:04 MST")
		}
		return text
	}}
	if s.Wide() {
		signed = output.Column{Field: "signed_at"}
	}
	return append(columns, signed,
		output.Column{Field: "failed"}, output.Column{Field: "erased", Wide: withNode},
		output.Column{Field: "skipped", Wide: true}, output.Column{Field: "errors", Wide: withNode})
}
