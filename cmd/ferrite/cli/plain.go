package cli

import "regexp"

// plainWords say in plain words what the API says in Ironic's. Programs that read the API get Ironic's.
var plainWords = []struct {
	ironic *regexp.Regexp
	plain  string
}{
	{regexp.MustCompile(`Node inventory record for node (\S+) could not be found\.`),
		"node $1 was never inspected\n  try: ferrite node inspect $1"},
	{regexp.MustCompile(`Node (\S+) was never inspected, so its disks are not known: ask for the verb inspect first\.`),
		"node $1 was never inspected, so its disks are not known\n  try: ferrite node inspect $1"},
	{regexp.MustCompile(`Access was denied to the following resource: (\S+)`),
		"your role does not allow this ($1)\n  ask an admin of the conductor for a role that does: ferrite user set"},
	{regexp.MustCompile(`No valid host was found\. Reason: No conductor service registered for conductor group "([^"]*)"\.`),
		"no conductor of the group \"$1\" is alive\n  see: ferrite conductor list"},
	{regexp.MustCompile(`No valid host was found\. Reason: No conductor service registered which supports driver ` +
		`([\w-]+)[^\n]*`), "no conductor has the driver $1 enabled\n  see: ferrite driver list"},
	{regexp.MustCompile(`Schema error for trait: '([^']*)' .*`),
		"'$1' is no trait: expected CUSTOM_ and capitals, digits and _, or a standard name such as HW_CPU_X86_VMX"},
	{regexp.MustCompile(`Could not find the following interface in the '(?:ironic\.hardware\.interfaces\.)?(\w+)' ` +
		`entrypoint: ([\w-]+)\.`), "there is no $1 interface $2."},
}

// plain puts an error into plain words.
func plain(text string) string {
	for _, w := range plainWords {
		text = w.ironic.ReplaceAllString(text, w.plain)
	}
	return text
}
