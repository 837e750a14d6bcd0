package wait

import (
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// next are the commands that lead on from a state, with NODE for the name of the node. States that lead on by
// themselves have none.
var next = map[string]string{
	"enroll":          "ferrite node manage NODE",
	"manageable":      "ferrite node provide NODE; before that, if wanted: ferrite node inspect NODE",
	"available":       "ferrite node deploy NODE --image URL --checksum SUM",
	"inspect failed":  "ferrite node logs NODE; correct the cause, then: ferrite node inspect NODE",
	"adopt failed":    "correct the cause, then: ferrite node adopt NODE",
	"clean failed":    "ferrite node logs NODE; correct the cause, then: ferrite node manage NODE",
	"deploy failed":   "ferrite node logs NODE; correct the cause, then: ferrite node deploy NODE, or undeploy",
	"service failed":  "ferrite node logs NODE; then ferrite node service NODE, or abort to boot the workload",
	"rescue":          "ssh rescue@ADDRESS; to end it: ferrite node unrescue NODE",
	"rescue failed":   "ferrite node logs NODE; then ferrite node rescue NODE again, or ferrite node unrescue NODE",
	"unrescue failed": "correct the cause, then: ferrite node unrescue NODE",
	"error":           "correct the cause, then: ferrite node undeploy NODE",
	"clean hold":      hold,
	"deploy hold":     hold,
	"service hold":    hold,
	"clean wait":      stuck,
	"wait call-back":  stuck,
	"inspect wait":    stuck,
	"service wait":    stuck,
	"rescue wait":     stuck,
}

const (
	hold  = "ferrite node unhold NODE; to give up: ferrite node abort NODE"
	stuck = "it goes on by itself; to look: ferrite node logs NODE -f; to give up: ferrite node abort NODE"
)

// Next is the next command for a node; the conductor's own advice for a state that is not known here.
func Next(st nodeapi.Status) string {
	text, ok := next[st.State]
	switch {
	case strings.HasPrefix(st.Try, "nothing"), strings.Contains(st.Try, "ferrite node "), !ok:
		return st.Try
	case st.State == "enroll" && st.LastError != "":
		text = "correct the cause of the last error, then: " + text
	}
	if st.Fault != "" && strings.HasSuffix(st.State, "failed") {
		text += "; then: ferrite node maintenance unset NODE"
	}
	return strings.ReplaceAll(text, "NODE", label(st))
}
