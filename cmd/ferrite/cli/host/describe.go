package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// describe is ferrite host describe.
func describe(s *client.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "describe NAME...",
		Short: "Show the spec and status of a host, and the reason of a wait",
		Long: `Show the spec and status of a host, and the current step of its node. Errors come with the
command to try. Conditions, hardware and history follow.`,
		Example:           "  ferrite host describe worker-0",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeDocuments(s),
	}
	namespace := namespaceFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		k, names, err := documentArgs(args)
		switch {
		case err != nil:
			return err
		case k.Kind != hostapi.KindHost:
			return fmt.Errorf("only hosts can be described: use ferrite host get %s -o yaml", strings.Join(args, " "))
		case len(names) == 0:
			return fmt.Errorf("expected ferrite host describe NAME; ferrite host get lists the names")
		}
		described := 0
		return wait.Each(names, func(name string) error {
			var reply json.RawMessage
			if err := readDocument(cmd.Context(), s, k, *namespace, name, &reply); err != nil {
				return err
			}
			if !s.People() {
				return output.PrintAny(s, cmd.OutOrStdout(), reply, nil)
			}
			var h hostapi.Host
			if err := json.Unmarshal(reply, &h); err != nil {
				return fmt.Errorf("the conductor's answer: %w", err)
			}
			if described++; described > 1 {
				fmt.Fprintln(cmd.OutOrStdout())
			}
			return writeSections(cmd.OutOrStdout(),
				hostSections(h, nodeOfHost(cmd.Context(), s, h), imageOf(cmd.Context(), s, h)))
		})
	}
	return cmd
}

// section is a part of a description: rows of a name and a value.
type section struct {
	title string
	rows  [][2]string
}

// row adds a row, unless there is nothing to say.
func (s *section) row(name, value string) {
	if value != "" {
		s.rows = append(s.rows, [2]string{name, value})
	}
}

// sectionWidth is the width of the names, so that all sections line up; the longest is the condition
// AvailableForProvisioning.
const sectionWidth = 24

// writeSections writes the sections, made safe for a terminal.
func writeSections(w io.Writer, all []section) error {
	var b strings.Builder
	screen := output.ScreenOf(w)
	for _, s := range all {
		if len(s.rows) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.title + "\n")
		for _, r := range s.rows {
			value := screen.Beside(output.Visible(r[1]), sectionWidth+3)
			fmt.Fprintf(&b, "  %-*s %s\n", sectionWidth, output.Visible(r[0]), value)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// imageOf is the DataImage of a host; the zero one for none.
func imageOf(ctx context.Context, s *client.Session, h hostapi.Host) (image hostapi.DataImage) {
	k, _ := hostapi.KindOf(hostapi.KindDataImage)
	if readDocument(ctx, s, k, h.Namespace, h.Name, &image) != nil {
		return hostapi.DataImage{} // the host's own status shows the trouble
	}
	return image
}

// hostDataImage shows the image for the host's virtual drive, and the error that keeps it from going in or out. While
// the error lasts, the machine does not start.
func hostDataImage(h hostapi.Host, i hostapi.DataImage) section {
	s := section{title: "Data image"}
	is, e := i.Status.AttachedImage.URL, i.Status.Error
	s.row("wanted", i.Spec.URL)
	s.row("in the drive", is)
	if i.DeletionTimestamp != nil {
		s.row("deleted", wait.Clock(i.DeletionTimestamp.Time))
	}
	s.row("error", e.Message)
	switch {
	case e.Message != "" && e.Count > 1:
		s.row("", fmt.Sprintf("%d times in a row", e.Count))
	case e.Message == "" && (i.DeletionTimestamp != nil || is != i.Spec.URL):
		s.row("changes", "at the next reboot")
	}
	if e.Message != "" && h.Spec.Online && !h.Status.PoweredOn {
		s.row("meanwhile", "the machine stays off; correct spec.url, or ferrite host delete dataimage "+i.Name+inNamespace(h)+
			", which starts it without")
	}
	return s
}
