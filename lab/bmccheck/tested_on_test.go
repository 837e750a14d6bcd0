package bmccheck

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/doctor"
	redfishlab "github.com/ferrite-metal/ferrite/lab/redfish"
)

var update = flag.Bool("update", false, "write the page")

const (
	testedOn      = "../../docs/tested-on.md"
	sharedReports = "../../docs/bmc-reports" // recorded/*.json and machines/*.json
)

const testedOnHead = `# Tested on

Ferrite's Redfish driver is tested on recorded and on imitated BMCs. The project has no such machines itself.

## Reports

A report is the verdict of [` + "`ferrite bmc doctor --report`" + `](bmc-doctor.md). The source *recording* is the documents
that a BMC once showed, served by ` + "`ferrite-lab bmc`" + `: how the BMC takes a change is not in them. The source *machine* is a
BMC in use. **All reports so far are of recordings.** To add yours, attach the file to an issue, or put it into
` + "`docs/bmc-reports/machines`" + `.

| machine | BMC | source | works | not offered or fails | odd |
|---|---|---|---|---|---|
`

const personalitiesHead = `
## Personalities

Each personality shows the names and versions of a product, and deviates from the standard in the ways listed. Sources
are workarounds and reports in other projects: a real BMC may have fewer deviations than its personality, or others.

` + "`make bmc-personalities`" + ` deploys a QEMU machine behind three of them. Then it runs the whole suite of the
driver over every personality, with delays of a second. The quick part of the suite runs with the unit tests.

To try one: ` + "`bin/ferrite-lab up --personality ilo6`" + `. A personality with ` + "`legacy-tls`" + ` is served over
TLS, and its node has ` + "`redfish_tls: legacy`" + `.

| personality | shows itself as | deviations |
|---|---|---|
`

// testedOnPage is the page that documents the reports, the personalities and their deviations.
func testedOnPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(testedOnHead)
	for _, from := range []struct{ folder, source string }{{"machines", "machine"}, {"recorded", "recording"}} {
		files, err := filepath.Glob(filepath.Join(sharedReports, from.folder, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b.WriteString(reportRow(readReport(t, file), from.source))
		}
	}
	b.WriteString(personalitiesHead)
	for _, p := range redfishlab.Personalities() {
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
	for _, d := range redfishlab.Deviations() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Name, d.Meaning, d.Seen, d.Source)
	}
	return b.String()
}

// readReport refuses a file with a field that no report has.
func readReport(t *testing.T, file string) (s doctor.Shared) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&s); err != nil || len(s.Findings) == 0 {
		t.Fatalf("%s: expected a report of `ferrite bmc doctor --report`: %v", file, err)
	}
	return s
}

func reportRow(s doctor.Shared, source string) string {
	works := 0
	var lacks []string
	for _, f := range s.Findings {
		switch f.Verdict {
		case doctor.Works:
			works++
		case doctor.Fails:
			lacks = append(lacks, "**"+f.Operation+"**")
		case doctor.NotOffered, doctor.Skipped:
			lacks = append(lacks, f.Operation)
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %d of %d | %s | %d |\n", s.Machine, s.BMC, source, works, len(s.Findings),
		strings.Join(lacks, ", "), len(s.Odd))
}

func TestTestedOnPage(t *testing.T) {
	want := testedOnPage(t)
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
		t.Errorf("%s differs from the reports and tables; run the test with -update (-want +got):\n%s", testedOn, diff)
	}
}
