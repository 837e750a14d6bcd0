package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// hostileText clears a screen, sets a title, turns the direction of writing, and begins a line of its own.
const hostileText = "\x1b[2J\x1b]0;t\a\r\u009b5n\u202e\u2028\x7f\nFORGED\n"

// asIs are the keys with values for programs: a server cannot make them text.
var asIs = []string{"payload", "signature", "public_key", "apiVersion", "kind", "cursor", "continue", "resourceVersion"}

// poisoned makes every text of a document hostile, and a few of its names.
func poisoned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if slices.Contains(asIs, key) {
				continue
			}
			v[key] = poisoned(value)
			if inner, ok := v[key].(map[string]any); ok &&
				slices.Contains([]string{"extra", "properties", "driver_info", "instance_info", "labels"}, key) {
				inner["key"+hostileText] = "value" + hostileText
			}
		}
	case []any:
		for i := range v {
			v[i] = poisoned(v[i])
		}
	case string:
		if _, err := time.Parse(time.RFC3339Nano, v); err != nil && v != "" {
			return v + hostileText
		}
	}
	return v
}

// hostile is a conductor that poisons every answer, and refuses every change with a poisoned reason. A line of JSON is
// a document.
func hostile(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads := r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/root-device")
		if !reads {
			w.WriteHeader(http.StatusConflict)
			fault, _ := json.Marshal(map[string]string{"faultstring": "refused" + hostileText})
			_ = json.NewEncoder(w).Encode(map[string]string{"error_message": string(fault)})
			return
		}
		rec := httptest.NewRecorder()
		inner.ServeHTTP(rec, r)
		for key, values := range rec.Header() {
			w.Header()[key] = values
		}
		w.Header().Del("Content-Length")
		w.WriteHeader(rec.Code)
		dec := json.NewDecoder(bytes.NewReader(rec.Body.Bytes()))
		dec.UseNumber()
		for {
			var doc any
			if dec.Decode(&doc) != nil {
				return
			}
			_ = json.NewEncoder(w).Encode(poisoned(doc))
		}
	})
}

// hostileWords are arguments for the words of usage lines.
func hostileWords(t *testing.T, ids map[string]string) map[string]string {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	words := map[string]string{"NODE": "m1", "NODE|UUID": "m1", "DRIVER": "fake-hardware", "FILE": file, "MAC": ids["mac"],
		"IP": "10.0.0.9", "KIND": "hosts", "TYPE": "hosts", "NAME": "a", "DEVICE": "disk", "TRAIT": "CUSTOM_A",
		"INDICATOR": "led@system", "METHOD": "second_method", "VIF": ids["node"], "CONDUCTOR": "conductor-1", "HOST": "a",
		"TEMPLATE": "CUSTOM_T", "RUNBOOK": "r1", "ALLOCATION": "a1", "SETTING": "Turbo", "URL": "http://10.0.0.1/x",
		"FILE|URL": file, "IMAGE": "os"}
	for word, id := range map[string]string{"PORT": "port", "PORTGROUP": "portgroup", "CHASSIS": "chassis", "RULE": "rule",
		"CONNECTOR": "connector", "TARGET": "target", "UUID": "report", "EVENT": "event"} {
		words[word] = ids[id]
	}
	return words
}

// TestHostileAnswers walks all commands against a conductor with hostile texts only: no output commands the terminal,
// and no text begins a line of its own.
func TestHostileAnswers(t *testing.T) {
	c := apitest.Start(t, mem.New(), documentMounts(newKeeper(t)), func(o *api.Options) {
		o.Hosts = allHosts{}
		o.BootWatch = bootWatch{}
	})
	words := hostileWords(t, fillForHostile(t, c))
	front := httptest.NewServer(hostile(c.Config.Handler))
	defer front.Close()
	shown := 0
	var silent []string
	for _, args := range leaves(t, cli.New("1.2.3-test"), words) {
		told := false
		forms := []string{"wide"}
		if slices.Contains([]string{"list", "show", "events", "audit", "watch", "hosts", "status"}, args[len(args)-1]) ||
			len(args) > 2 && args[1] == "show" {
			forms = []string{"table", "wide", "name", "json", "yaml", "jsonpath={@}"}
		}
		for _, form := range forms {
			var out bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			stderr, _ := ferrite(ctx, front.URL, &out, append(slices.Clone(args), "-o", form)...)
			cancel()
			text := out.String() + stderr
			checkHarmless(t, fmt.Sprintf("ferrite %s -o %s", strings.Join(args, " "), form), text, form != "jsonpath={@}")
			told = told || strings.Contains(text, "FORGED")
		}
		if told {
			shown++
		} else {
			silent = append(silent, strings.Join(args, " "))
		}
	}
	if shown < 90 {
		t.Errorf("only %d commands have shown something of the conductor; these have not:\n%s", shown,
			strings.Join(silent, "\n"))
	}
}

// checkHarmless looks for characters that a terminal obeys, and for lines that a server began. A template prints values
// as they are, with their lines.
func checkHarmless(t *testing.T, what, text string, byLines bool) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) && r != '\u00a0' {
			t.Errorf("%s prints %U: %.60q", what, r, text[max(0, i-30):])
			return
		}
	}
	if i := strings.Index("\n"+text, "\nFORGED"); byLines && i >= 0 {
		t.Errorf("%s lets a text begin a line: %.90q", what, text[max(0, i-40):])
	}
}

var usageWord = regexp.MustCompile(`^[A-Z][A-Z|]*$`)

// leaves are the commands that ask a conductor, with arguments.
func leaves(t *testing.T, c *cobra.Command, words map[string]string) (all [][]string) {
	for _, below := range c.Commands() {
		all = append(all, leaves(t, below, words)...)
	}
	if !c.Runnable() || c.InheritedFlags().Lookup("url") == nil || c.Name() == "help" || strings.Contains(c.CommandPath(),
		"completion") || c.Name() == "console" {
		return all
	}
	args := strings.Fields(c.CommandPath())[1:]
	for _, word := range strings.Fields(c.Use)[1:] {
		bare := strings.Trim(word, "[].{}")
		if strings.HasPrefix(bare, "-") {
			break
		}
		if !usageWord.MatchString(bare) {
			continue
		}
		value, ok := words[bare]
		if !ok {
			t.Errorf("%s: the test knows no %s: add it to hostileWords", c.CommandPath(), bare)
		}
		args = append(args, value)
	}
	if c.Flags().Lookup("yes") != nil {
		args = append(args, "--yes")
	}
	return append(all, args)
}

// fillForHostile makes an object of every kind, and returns their names.
func fillForHostile(t *testing.T, c *apitest.Conductor) map[string]string {
	run := func(args ...string) string {
		var out bytes.Buffer
		stderr, status := ferrite(t.Context(), c.URL, &out, append(args, "-o", "json")...)
		if status != 0 {
			t.Fatalf("ferrite %s: %s", strings.Join(args, " "), stderr)
		}
		var made struct{ UUID string }
		_ = json.Unmarshal(out.Bytes(), &made)
		return made.UUID
	}
	ids := map[string]string{"mac": "52:54:00:00:00:01"}
	ids["node"] = run("node", "create", "--driver", "fake-hardware", "--name", "m1", "--extra", "rack=7", "--description",
		"text")
	ids["port"] = run("port", "create", ids["mac"], "--node", "m1")
	ids["portgroup"] = run("portgroup", "create", "--node", "m1", "--name", "bond0")
	ids["chassis"] = run("chassis", "create", "--description", "rack 7")
	ids["connector"] = run("volume", "connector", "create", "--node", "m1", "--type", "iqn", "--connector-id", "iqn.1:a")
	ids["target"] = run("volume", "target", "create", "--node", "m1", "--volume-type", "iscsi", "--volume-id", "v",
		"--boot-index", "0")
	steps := `[{"interface": "bios", "step": "factory_reset", "args": {}, "priority": 9}]`
	run("template", "create", "CUSTOM_T", "--steps", steps)
	run("runbook", "create", "r1", "--steps", `[{"interface": "power", "step": "reboot", "order": 1, "args": {}}]`)
	ids["rule"] = run("inspection-rule", "create", "--actions", `[{"op": "fail", "args": {"msg": "no"}}]`)
	run("node", "trait", "add", "m1", "CUSTOM_A")
	run("lease", "reserve", ids["mac"], "10.0.0.9")
	run("node", "manage", "m1", "--wait")
	var event bytes.Buffer
	if stderr, status := ferrite(t.Context(), c.URL, &event, "node", "history", "m1", "-o",
		"jsonpath={[0].uuid}"); status != 0 {
		t.Fatal(stderr)
	}
	ids["event"] = strings.TrimSpace(event.String())
	run("node", "vmedia", "insert", "m1", "--image", "http://10.0.0.1/rescue.iso")
	ids["report"] = c.Erased(t, "m1", true)
	n, err := c.Engine.Node(t.Context(), "m1")
	if err != nil {
		t.Fatal(err)
	}
	inventory, err := json.Marshal(agentapi.Inventory{Disks: []agentapi.Disk{{Name: "/dev/sda", Model: "M", Serial: "S",
		Size: 1 << 40}}})
	if err != nil {
		t.Fatal(err)
	}
	n.LastError = "it does not work"
	_, err = c.Engine.Store.Commit(t.Context(), node.Change{Save: &n,
		Inspected: &node.Inspected{Inventory: inventory, PluginData: []byte("{}")}})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
