package cli

import "testing"

// TestPlain: errors in Ironic's words become plain ones, with lists of the allowed values and the next command.
func TestPlain(t *testing.T) {
	for ironic, want := range map[string]string{
		"Could not find the following interface in the 'ironic.hardware.interfaces.rescue' entrypoint: agnet. Valid " +
			"interfaces are [fake no-rescue agent].": "the driver has no rescue interface agnet: " +
			"expected one of fake, no-rescue, agent",
		"Node m1 can not have rescue_interface updated unless it is in one of allowed (enroll, manageable) states or in " +
			"maintenance mode.": "node m1 keeps its rescue_interface while it is in use: it can be changed in the states " +
			"enroll, manageable, or in maintenance\n  try: ferrite node maintenance set m1",
		"Node m1 can not be updated while a state transition is in progress.": "node m1 is at work: it can be changed when " +
			"that is over\n  try: ferrite node status m1",
		"Node inventory record for node m1 could not be found.": "node m1 was never inspected\n" +
			"  try: ferrite node inspect m1",
		"Node m1 is locked by host lab, please retry after the current operation is completed.": "node m1 is locked: the " +
			"conductor lab is at work on it\n  try: ferrite node status m1; then the same command again",
		"the disk is gone": "the disk is gone",
	} {
		if got := plain(ironic); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", ironic, got, want)
		}
	}
}
