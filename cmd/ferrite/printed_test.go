package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mvdan.cc/sh/v3/shell"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

// printedRow is a row of testdata/printed.txt: a command as it is printed, and how it is run.
type printedRow struct {
	printed string
	how     string // the word that the head of the table explains
	run     string // the command with values for its placeholders
	status  int    // the exit status that is expected
}

// printedRows reads the table, in order.
func printedRows(t *testing.T) (all []printedRow) {
	t.Helper()
	raw, err := os.ReadFile("testdata/printed.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(raw), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, " | ")
		if len(cells) < 2 {
			t.Fatalf("testdata/printed.txt, line %d: expected PRINTED | HOW | COMMAND: %s", i+1, line)
		}
		r := printedRow{printed: strings.TrimSpace(cells[0]), how: strings.TrimSpace(cells[1]), run: cells[0]}
		if how, number, ok := strings.Cut(r.how, " "); how == "status" && ok {
			if r.status, err = strconv.Atoi(number); err != nil {
				t.Fatal(err)
			}
			r.how = "run"
		}
		if len(cells) > 2 {
			r.run = cells[2]
		}
		all = append(all, r)
	}
	return all
}

// TestPrintedCommandsListed: each command that a text of the program or of the web interface names is whole, is not the
// old name of another, and is in the table, which has no others. So a new one is run, too.
func TestPrintedCommandsListed(t *testing.T) {
	root := program()
	root.InitDefaultHelpCmd()
	listed := map[string]printedRow{}
	for _, r := range printedRows(t) {
		listed[r.printed] = r
	}
	found := map[string]bool{}
	for _, text := range append(append(goTexts(t), webTexts(t)...), scriptTexts(t)...) {
		for _, c := range printedCommands(root, text.text) {
			r, ok := listed[c]
			if !ok {
				t.Errorf("%s: %q is not in testdata/printed.txt: add how it is run", text.place, c)
			}
			if ok && !found[c] && r.how != "none" && r.how != "in Debian" {
				checkCommand(t, text.place, r)
			}
			found[c] = true
		}
	}
	for c, r := range listed {
		if !found[c] && r.how != "first" {
			t.Errorf("testdata/printed.txt: no text of the program has %q", c)
		}
	}
	if len(found) < 100 {
		t.Errorf("%d commands are printed; expected more than a hundred", len(found))
	}
}

// checkCommand refuses a command that the program does not know, or knows by another name.
func checkCommand(t *testing.T, place string, r printedRow) {
	t.Helper()
	words, err := shell.Fields(r.run, nil)
	if err != nil {
		t.Fatalf("%s: %v", r.run, err)
	}
	if c, _, err := program().Find(words[1:]); err == nil && c.Hidden {
		t.Errorf("%s: %q has another name now", place, r.printed)
	}
	if err := parses(words[1:]); err != nil {
		t.Errorf("%s: %q: %v", place, r.printed, err)
	}
}

// freshRoot is a host on which the package was just installed: setup has run, and the conductor that it names runs.
type freshRoot struct {
	dir, port string
	stop      func() // ends the conductor
}

var (
	setupPassword = regexp.MustCompile(`user (\S+), password (\S+) \(shown this once; change it with: ([^)]*)\)`)
	setupServe    = regexp.MustCompile(`start the conductor with: (.*)`)
	setupExport   = regexp.MustCompile(`log in with: export (.*)`)
)

// newFreshRoot runs the installer's command, and then those that it prints.
func newFreshRoot(t *testing.T) *freshRoot {
	t.Helper()
	r := &freshRoot{dir: t.TempDir(), port: servetest.FreePort(t)}
	for _, name := range os.Environ() { // of the account that runs the test
		if name, _, _ := strings.Cut(name, "="); strings.HasPrefix(name, "FERRITE_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("HOME", r.dir)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(r.dir, "cache"))
	t.Setenv("FERRITE_CONFIG", filepath.Join(r.dir, "etc/ferrite.yaml"))
	out, status := r.ferrite(t, "ferrite server setup --yes --enable=false --config-dir "+r.dir+"/etc --data-dir "+r.dir+
		"/data --api-address 127.0.0.1:"+r.port, commandLimit)
	if status != 0 {
		t.Fatal(out)
	}
	password, serve, export := setupPassword.FindStringSubmatch(out), setupServe.FindStringSubmatch(out),
		setupExport.FindStringSubmatch(out)
	if password == nil || serve == nil || export == nil {
		t.Fatalf("setup does not print how to go on:\n%s", out)
	}
	if password[3] != "ferrite user password admin" {
		t.Errorf("setup prints %q to change the password", password[3])
	}
	r.serve(t, serve[1])
	for word := range strings.FieldsSeq(export[1]) {
		name, value, _ := strings.Cut(word, "=")
		t.Setenv(name, value)
	}
	t.Setenv("FERRITE_PASSWORD", password[2])
	return r
}

// serve runs the printed command in a shell until the test ends.
func (r *freshRoot) serve(t *testing.T, command string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	words, err := shell.Fields(command, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, words[1:]...) //nolint:gosec // the test binary itself
	c.Env = append(os.Environ(), asFerrite+"=1", "FERRITE_HARDWARE_TYPES=fake-hardware,redfish,ipmi,manual-management",
		"FERRITE_LOG_LEVEL=error")
	c.Stderr = &log
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	r.stop = sync.OnceFunc(func() { _ = errors.Join(c.Cancel(), c.Wait()) }) // its log has the reason of an early end
	t.Cleanup(r.stop)
	awaitAPI(t, r.port, &log)
}

// ferrite runs a command in this process, as the program does.
func (r *freshRoot) ferrite(t *testing.T, command string, limit time.Duration) (out string, status int) {
	t.Helper()
	words, err := shell.Fields(strings.ReplaceAll(command, "ROOT", r.dir), nil)
	if err != nil || words[0] != "ferrite" {
		t.Fatalf("%s: %v", command, err)
	}
	var said bytes.Buffer
	c := program()
	c.SetArgs(words[1:])
	c.SetIn(strings.NewReader(""))
	c.SetOut(&said)
	c.SetErr(&said)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	status = cli.Run(ctx, c)
	return said.String(), status
}

// TestPrintedCommands: commands that the program prints work as they are typed on a host after the package's
// installation, in the order of the table.
func TestPrintedCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a conductor")
	}
	root := newFreshRoot(t)
	for name, text := range map[string]string{
		"host.yaml": printedHost, "machines.csv": printedTable, "image": string(make([]byte, 1<<20)),
		"secret": "wonderland\n", "passphrase": "a long passphrase\n",
	} {
		if err := os.WriteFile(filepath.Join(root.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ran := 0
	for _, r := range printedRows(t) {
		limit := commandLimit
		switch r.how {
		case "run", "first":
		case "watch":
			limit = watchLimit
		case "stopped":
			root.stop()
		default:
			continue
		}
		ran++
		began := time.Now()
		out, status := root.ferrite(t, r.run, limit)
		for status == refusedStatus && r.status == 0 && time.Since(began) < commandRetry { // the row before is at work
			time.Sleep(100 * time.Millisecond)
			out, status = root.ferrite(t, r.run, limit)
		}
		if r.how == "watch" && status == timedOutStatus { // ended by the test
			status = 0
		}
		if status != r.status {
			t.Errorf("%s\n  run as: %s\n  exit status %d, expected %d:\n%s", r.printed, r.run, status, r.status, out)
		}
	}
	if ran < 80 {
		t.Errorf("%d commands were run; expected more than eighty", ran)
	}
}

// TestPrintedCommandsInDebian: those that need systemd or a terminal are run by the suite of the packages.
func TestPrintedCommandsInDebian(t *testing.T) {
	checks, err := os.ReadFile("../../lab/e2e/installed/testdata/checks.sh")
	if err != nil {
		t.Fatal(err)
	}
	rows := printedRows(t)
	if !slices.ContainsFunc(rows, func(r printedRow) bool { return r.how == "in Debian" }) {
		t.Error("no command is run in Debian")
	}
	for _, r := range rows {
		if r.how == "in Debian" && !bytes.Contains(checks, []byte(r.run)) {
			t.Errorf("%s: the suite of the packages does not run: %s", r.printed, r.run)
		}
	}
}

// commandLimit is for commands that end; watchLimit is how long others run.
const (
	commandLimit = 20 * time.Second
	commandRetry = 2 * time.Second
	watchLimit   = 300 * time.Millisecond
)

// Exit statuses, as ferrite help exit-codes has them.
const refusedStatus, timedOutStatus = 4, 6

// printedTable is a line of the file that the web interface shows.
const printedTable = `name,driver,mac,redfish_address,redfish_username,redfish_password
rack1-1,redfish,52:54:00:12:34:61,https://192.0.2.11,admin,change-me
`

const printedHost = `apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata:
  name: w1
spec:
  online: false
`
