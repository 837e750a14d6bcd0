package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// exchange is one request to a live Ironic 21.4, and the answer.
type exchange struct {
	id           string // file and number: "09#3"
	method, path string
	version      string // as asked for; "" for no header
	versioned    bool
	header       http.Header // of the request, but versions
	sent         string
	status       int
	answered     http.Header
	body         string
}

// readTranscripts reads testdata/transcripts in order.
func readTranscripts(t *testing.T) []exchange {
	t.Helper()
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	var all []exchange
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		number, _, _ := strings.Cut(filepath.Base(file), "-")
		if isWalk(string(raw)) {
			all = append(all, readWalk(t, number, string(raw))...)
			continue
		}
		for i, text := range strings.Split(string(raw), "\n"+strings.Repeat("-", 78)+"\n") {
			e, ok, err := readExchange(text)
			if err != nil {
				t.Fatalf("%s, exchange %d: %v", file, i+1, err)
			}
			if ok {
				e.id = fmt.Sprintf("%s#%d", number, i+1)
				all = append(all, e)
			}
		}
	}
	return all
}

// readExchange reads lines of ">>> request", an empty line, the raw answer.
func readExchange(text string) (exchange, bool, error) {
	var sent []string
	rest := strings.Builder{}
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, ">>>"):
			sent = append(sent, strings.TrimPrefix(strings.TrimSuffix(line[3:], "\n"), " "))
		default:
			rest.WriteString(line)
		}
	}
	if len(sent) == 0 {
		return exchange{}, false, nil
	}
	var e exchange
	if _, err := fmt.Sscanf(sent[0], "%s %s", &e.method, &e.path); err != nil {
		return e, false, err
	}
	e.header = http.Header{}
	for i, line := range sent[1:] {
		if line == "" {
			e.sent = strings.Join(sent[i+2:], "\n")
			break
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Connection", "Content-Length":
		case nodeapi.HeaderVersion:
			e.version, e.versioned = value, true
		default:
			e.header.Set(name, value)
		}
	}
	answer := strings.TrimLeft(rest.String(), "\n")
	head, body, _ := strings.Cut(answer, "\n\n")
	e.body = strings.TrimSpace(body)
	e.answered = http.Header{}
	lines := bufio.NewScanner(strings.NewReader(head))
	lines.Buffer(nil, 1<<20)
	for first := true; lines.Scan(); first = false {
		if first {
			if _, err := fmt.Sscanf(lines.Text(), "HTTP/1.1 %d", &e.status); err != nil {
				return e, false, err
			}
			continue
		}
		name, value, _ := strings.Cut(lines.Text(), ":")
		e.answered.Add(name, strings.TrimSpace(value))
	}
	return e, true, nil
}

// freeForm reports whether the API does not define the contents of a field.
func freeForm(key string) bool {
	switch key {
	case "driver_info", "driver_internal_info", "extra", "properties", "instance_info", "clean_step", "deploy_step",
		"network_data", "raid_config", "target_raid_config", "local_link_connection", "internal_info", "inventory",
		"plugin_data":
		return true
	}
	return false
}

// compareShapes says where two JSON documents differ in keys or types. null
// goes with everything; of lists the first items are compared.
func compareShapes(at string, want, got any) []string {
	if want == nil || got == nil {
		return nil
	}
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			return []string{at + ": expected an object"}
		}
		var diff []string
		for key := range want {
			if _, ok := got[key]; !ok {
				diff = append(diff, at+"."+key+": missing")
			} else if !freeForm(key) {
				diff = append(diff, compareShapes(at+"."+key, want[key], got[key])...)
			}
		}
		for key := range got {
			if _, ok := want[key]; !ok {
				diff = append(diff, at+"."+key+": not in Ironic's answer")
			}
		}
		return diff
	case []any:
		got, ok := got.([]any)
		if !ok {
			return []string{at + ": expected a list"}
		}
		if len(want) == 0 || len(got) == 0 {
			return nil
		}
		return compareShapes(at+"[0]", want[0], got[0])
	}
	if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got) {
		return []string{fmt.Sprintf("%s: expected %T, found %T", at, want, got)}
	}
	return nil
}

// errorForm is which of the inner forms an error has.
func errorForm(body string) string {
	var outer struct {
		Message string `json:"error_message"`
	}
	var inner map[string]any
	if json.Unmarshal([]byte(body), &outer) != nil || json.Unmarshal([]byte(outer.Message), &inner) != nil {
		return "neither"
	}
	if _, ok := inner["faultcode"]; ok {
		return "controller"
	}
	return "route"
}
