package redfish

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testedOn = "../../docs/tested-on.md"

const testedOnHead = `# Tested on

Ferrite's Redfish driver is tested on imitated BMCs. Each personality below shows the names and versions of a product,
and deviates from the standard in the ways listed. Sources are workarounds and reports in other projects. The project
has no such machines itself: a real BMC may have fewer deviations than its personality, or others.

` + "`make bmc-personalities`" + ` deploys a QEMU machine behind three of them. Then it runs the whole suite of the
driver over every personality, with delays of a second. The quick part of the suite runs with the unit tests.

To try one: ` + "`bin/ferrite-lab up --personality ilo6`" + `. A personality with ` + "`legacy-tls`" + ` is served over
TLS, and its node has ` + "`redfish_tls: legacy`" + `.

## Personalities

| personality | shows itself as | deviations |
|---|---|---|
`

// testedOnPage is the page that documents both tables.
func testedOnPage() string {
	var b strings.Builder
	b.WriteString(testedOnHead)
	for _, p := range Personalities() {
		var shown, deviations []string
		for _, s := range []string{p.Manufacturer, p.Model, p.ManagerModel, p.FirmwareVersion} {
			if s != "" {
				shown = append(shown, s)
			}
		}
		for _, d := range p.Deviations {
			deviations = append(deviations, "`"+string(d)+"`")
		}
		if len(deviations) == 0 {
			deviations = []string{"none"}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Name, strings.Join(shown, "; "), strings.Join(deviations, ", "))
	}
	b.WriteString("\n## Deviations\n\n| name | meaning | seen on | source |\n|---|---|---|---|\n")
	for _, d := range Deviations() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Name, d.Meaning, d.Seen, d.Source)
	}
	return b.String()
}

func TestTestedOnPage(t *testing.T) {
	want := testedOnPage()
	if *update {
		if err := os.WriteFile(testedOn, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(testedOn)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s differs from the tables; run the test with -update (-want +got):\n%s", testedOn, diff)
	}
}
