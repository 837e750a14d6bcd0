package nodeapi

import (
	"cmp"
	"strings"
)

// nextSteps are the commands that lead on from a state, with NODE for the name of the node and ADDRESS for its
// ramdisk's address. States that lead on by themselves, and states to stay in, have none.
var nextSteps = map[string]string{
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
	"clean hold":      nextOfHold,
	"deploy hold":     nextOfHold,
	"service hold":    nextOfHold,
	"clean wait":      nextOfWait,
	"wait call-back":  nextOfWait,
	"inspect wait":    nextOfWait,
	"service wait":    nextOfWait,
	"rescue wait":     nextOfWait,
}

const (
	nextOfHold = "ferrite node unhold NODE; to give up: ferrite node abort NODE"
	nextOfWait = "nothing, it continues by itself; to watch: ferrite node logs NODE -f; to give up: " +
		"ferrite node abort NODE"
)

// NextStep is the next command for a node, for people: the conductor, the CLI and the web interface show the same. ""
// for none.
func NextStep(st Status) string {
	text := nextSteps[st.State]
	if st.State == "enroll" && st.LastError != "" {
		text = "correct the cause of the last error, then: " + text
	}
	if st.Fault != "" && strings.HasSuffix(st.State, "failed") {
		text += "; then: ferrite node maintenance unset NODE"
	}
	return strings.ReplaceAll(text, "NODE", cmp.Or(st.Name, st.Node))
}
