package inventory

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const eraseReportHelp = `Erase reports say how each disk of a machine was erased, how long it took, and how
the result was verified. The conductor signs each report and keeps it when the node
is deleted. An interrupted erase gets a report, too, with an unknown end. Anybody can
verify a saved report with the conductor's public key.`

const (
	eraseReportsPath = nodeapi.FerriteRoot + "/erase-reports"
	lacks            = "has no erase reports"
)

// eraseReportCommand is ferrite erase-report.
func eraseReportCommand(s *client.Session) *cobra.Command {
	cmd := client.Group("erase-report", "Signed reports about erased disks", eraseReportHelp,
		eraseReportList(s), eraseReportShow(s), eraseReportSave(s), eraseReportVerify(s), eraseReportKey(s))
	nodes.Several(s, cmd)
	return cmd
}

func eraseReportShow(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "show NODE|UUID",
		Short: "Show the outcome for each disk in a report, or in the last of a node, without verifying it",
		RunE: func(cmd *cobra.Command, args []string) error {
			document, err := eraseReport(s, cmd, args[0])
			if err != nil {
				return err
			}
			var signed nodeapi.EraseReport
			if err := json.Unmarshal(document, &signed); err != nil {
				return fmt.Errorf("the conductor's answer: %w", err)
			}
			report, err := erasedOf(signed.Report)
			if err != nil {
				return err
			}
			return output.PrintAny(s, cmd.OutOrStdout(), document, erasedTable(report))
		},
	}
}

func eraseReportSave(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "save NODE|UUID FILE",
		Short: "Save a signed report, or the last of a node, to a new file",
		RunE: func(cmd *cobra.Command, args []string) error {
			document, err := eraseReport(s, cmd, args[0])
			if err != nil {
				return err
			}
			f, err := os.OpenFile(args[1], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if err != nil {
				return fmt.Errorf("save the report: %w; choose a file that does not exist", err)
			}
			_, err = f.Write(append(document, '\n'))
			return errors.Join(err, f.Close())
		},
	}
}

func eraseReportKey(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "key",
		Short: "Print the conductor's public key (PEM), for verify --key",
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, err := eraseKey(s, cmd)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), key.PublicKey)
			return err
		},
	}
}

func eraseReportVerify(s *client.Session) *cobra.Command {
	var keyFile string
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Verify the signature of a saved report, and that every disk was erased",
		Long: `Verify that the conductor's key has signed a saved report, and that every disk in it
was erased and verified. The exit status is not 0 if either fails. Skipped disks are
named; they are no failure.

With --key, no conductor is asked. Without --key, the key comes from the conductor:
that proves nothing to people who do not trust it.`,
		Example: "  ferrite erase-report key > conductor.pem\n  ferrite erase-report verify web-3.json --key conductor.pem",
		RunE: func(cmd *cobra.Command, args []string) error {
			document, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			key, err := verifyKey(s, cmd, keyFile)
			if err != nil {
				return err
			}
			statement, err := nodeapi.OpenEraseReport(document, key)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return explainVerdict(s, cmd, statement)
		},
	}
	cmd.Flags().StringVar(&keyFile, "key", "", "PEM `file` with the conductor's public key")
	return cmd
}

// verifyKey reads the key from a file, or asks the conductor and says so.
func verifyKey(s *client.Session, cmd *cobra.Command, file string) (ed25519.PublicKey, error) {
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--key: %w", err)
		}
		key, err := nodeapi.ParseEraseKey(text)
		if err != nil {
			return nil, fmt.Errorf("--key %s: %w", file, err)
		}
		return key, nil
	}
	served, err := eraseKey(s, cmd)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(),
		"verified with the key that the conductor at %s serves; --key FILE asks no conductor\n", s.Client.Base)
	if err != nil {
		return nil, err
	}
	key, err := nodeapi.ParseEraseKey([]byte(served.PublicKey))
	if err != nil {
		return nil, fmt.Errorf("the conductor's answer: %w", err)
	}
	return key, nil
}

// explainVerdict prints the signed report. A disk without proof of its erasure is an error.
func explainVerdict(s *client.Session, cmd *cobra.Command, statement nodeapi.EraseStatement) error {
	report, err := erasedOf(statement.Report)
	if err != nil {
		return err
	}
	if err := output.PrintAny(s, cmd.OutOrStdout(), statement, erasedTable(report)); err != nil {
		return err
	}
	if err := report.Validate(); err != nil {
		return fmt.Errorf("the signature is valid, but the report is not: %w", err)
	}
	if report.NodeUUID != statement.NodeUUID {
		return fmt.Errorf("the signature is valid, but the report is of node %s and not of %s", report.NodeUUID,
			statement.NodeUUID)
	}
	if report.Unfinished != "" {
		return fmt.Errorf("the signature is valid, but the end of this erase is unknown: %s", report.Unfinished)
	}
	if failed := report.Failed(); statement.Failed || len(failed) > 0 {
		return fmt.Errorf("the signature is valid, but the step has failed: %d of %d disks were not erased", len(failed),
			len(report.Disks))
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "good: node %s %s, signed at %s with the key %s\n",
		output.VisibleLine(statement.NodeName), output.VisibleLine(statement.NodeUUID),
		output.Time(statement.SignedAt), output.VisibleLine(statement.KeyID))
	return err
}

func erasedOf(raw json.RawMessage) (r agentapi.EraseReport, err error) {
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("erase report: %w", err)
	}
	return r, nil
}

func erasedTable(r agentapi.EraseReport) *output.Table {
	t := output.NewTable("Device", "Serial", "Method", "Duration", "Verdict")
	for _, d := range r.Disks {
		lasted := ""
		if d.DurationMS > 0 {
			lasted = (time.Duration(d.DurationMS) * time.Millisecond).String()
		}
		t.Row(d.Device, d.Serial, d.Method, lasted, diskVerdict(d))
	}
	if r.Unfinished != "" {
		t.Row("all disks", "", "", "", "NOT FINISHED: "+r.Unfinished)
	}
	return t
}

func diskVerdict(d agentapi.ErasedDisk) string {
	switch v := d.Verification; {
	case d.Error != "":
		return "FAILED: " + d.Error
	case d.Skipped != "":
		return "left alone: " + d.Skipped
	case v == nil:
		return "FAILED: it was not verified"
	case !v.Passed || v.Survivors > 0:
		return fmt.Sprintf("FAILED: %d of %d blocks read as before", v.Survivors, v.Canaries+v.Samples)
	default:
		return fmt.Sprintf("verified: none of %d canaries and %d samples reads as before", v.Canaries, v.Samples)
	}
}

// eraseReport reads a signed report, as it stands: the one of this UUID, or the last of the node of this name.
func eraseReport(s *client.Session, cmd *cobra.Command, ref string) (document json.RawMessage, err error) {
	err = s.Client.Do(cmd.Context(), "GET", eraseReportsPath+"/"+url.PathEscape(ref), nil, &document)
	if !client.NotFound(err) || client.Unserved(err) {
		return document, s.Older(err, lacks)
	}
	var of struct {
		EraseReports []struct {
			UUID     string    `json:"uuid"`
			SignedAt time.Time `json:"signed_at"`
		} `json:"erase_reports"`
	}
	if s.Client.Do(cmd.Context(), "GET", client.FerritePath(ref, "erase-reports"), nil, &of) != nil {
		return nil, err
	}
	if len(of.EraseReports) == 0 {
		return nil, exit.Is(exit.NotFound, fmt.Errorf("node %s has no erase report: its disks were not erased by "+
			"erase_devices", ref))
	}
	last := of.EraseReports[0]
	for _, r := range of.EraseReports[1:] {
		if r.SignedAt.After(last.SignedAt) {
			last = r
		}
	}
	err = s.Client.Do(cmd.Context(), "GET", eraseReportsPath+"/"+url.PathEscape(last.UUID), nil, &document)
	return document, err
}

func eraseKey(s *client.Session, cmd *cobra.Command) (key nodeapi.EraseKey, err error) {
	err = s.Client.Do(cmd.Context(), "GET", nodeapi.FerriteRoot+"/erase-key", nil, &key)
	return key, s.Older(err, lacks)
}
