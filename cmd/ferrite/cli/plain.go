package cli

import (
	"regexp"
	"strings"
)

// plainWords replace Ironic's terms in texts of the API by plain words. Programs that read the API get Ironic's terms.
var plainWords = []struct {
	ironic *regexp.Regexp
	plain  string
}{
	{regexp.MustCompile(`Node inventory record for node (\S+) could not be found\.`),
		"node $1 was never inspected\n  try: ferrite node inspect $1"},
	{regexp.MustCompile(`Node (\S+) was never inspected, so its disks are not known: ask for the verb inspect first\.`),
		"node $1 was never inspected, so its disks are not known\n  try: ferrite node inspect $1"},
	{regexp.MustCompile(`Access was denied to the following resource: (\S+)`),
		"your role does not allow this ($1)\n  ask an admin of the conductor for a role that does: " +
			"ferrite user set NAME --role ROLE"},
	{regexp.MustCompile(`No valid host was found\. Reason: No conductor service registered for conductor group "([^"]*)"\.`),
		"no conductor of the group \"$1\" is alive\n  see: ferrite conductor list"},
	{regexp.MustCompile(`No valid host was found\. Reason: No conductor service registered which supports driver ` +
		`([\w-]+)[^\n]*`), "no conductor has the driver $1 enabled\n  see: ferrite driver list"},
	{regexp.MustCompile(`Schema error for trait: '([^']*)' .*`),
		"'$1' is no trait: expected CUSTOM_ and capitals, digits and _, or a standard name such as HW_CPU_X86_VMX"},
	{regexp.MustCompile(`Could not find the following interface in the '(?:ironic\.hardware\.interfaces\.)?(\w+)' ` +
		`entrypoint: ([\w-]+)\. Valid interfaces are \[([^\]]*)\]\.`), "the driver has no $1 interface $2: expected " + listed},
	{regexp.MustCompile(`Could not find the following interface in the '(?:ironic\.hardware\.interfaces\.)?(\w+)' ` +
		`entrypoint: ([\w-]+)\.`), "there is no $1 interface $2."},
	{regexp.MustCompile(`Node "?([\w.~-]+)"? is locked by host (\S+), please retry after the current ` +
		`operation is completed\.`), "node $1 is locked: the conductor $2 is at work on it\n  try: ferrite node " +
		"status $1; then the same command again"},
	{regexp.MustCompile(`Node "?([\w.~-]+)"? can not be updated while a state transition is in progress\.`),
		"node $1 is at work: it can be changed when that is over\n  try: ferrite node status $1"},
	{regexp.MustCompile(`Node "?([\w.~-]+)"? can not have (\w+) updated unless it is in one of allowed ` +
		`\(([^)]*)\) states or in maintenance mode\.`), "node $1 keeps its $2 while it is in use: it can be changed in the " +
		"states $3, or in maintenance\n  try: ferrite node maintenance set $1"},
}

// listed is $3, words in brackets, as a list.
const listed = "one of $3"

// plain puts an error into plain words.
func plain(text string) string {
	for _, w := range plainWords {
		text = w.ironic.ReplaceAllStringFunc(text, func(found string) string {
			said := w.ironic.ReplaceAllString(found, w.plain)
			if groups := w.ironic.FindStringSubmatch(found); strings.HasSuffix(w.plain, listed) {
				said = strings.ReplaceAll(said, groups[3], strings.Join(strings.Fields(groups[3]), ", "))
			}
			return said
		})
	}
	return text
}
