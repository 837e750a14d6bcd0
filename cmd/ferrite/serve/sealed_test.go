package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// plantedWords are the secrets that sealedFolder gives to a conductor.
var plantedWords = []string{
	"planted-bmc-password", "planted-url-password", "planted-pull-secret", "planted-user-data", "planted-agent-token",
	"planted-volume-secret", "planted-template-argument", "planted-runbook-argument", "planted-step-argument",
	"planted-host-secret", "planted-rule-argument", "planted-rescue-password",
}

// plainWords are the planted words that the files of a database hold in plain.
func plainWords(t *testing.T, dir string) (words []string) {
	t.Helper()
	for _, name := range []string{datafolder.DatabaseFile, datafolder.WALFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		for _, word := range append(plantedWords, recordedPassword) {
			if bytes.Contains(text, []byte(word)) {
				words = append(words, name+": "+word)
			}
		}
	}
	return words
}

// plantSecrets gives a conductor a secret of every kind, by its API.
func plantSecrets(t *testing.T, c *conductor) {
	t.Helper()
	post := func(path string, body map[string]any) string {
		return fmt.Sprint(c.Call(t, "POST", path, body, http.StatusCreated)["uuid"])
	}
	post("/v1/nodes", map[string]any{"driver": "redfish", "name": "bmc", "driver_info": map[string]any{
		"redfish_address": "https://127.0.0.1:1", "redfish_username": "admin", "redfish_password": "planted-bmc-password",
		"deploy_iso": "https://user:planted-url-password@127.0.0.1/iso",
	}})
	id := post("/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "busy",
		"instance_info": map[string]any{"image_pull_secret": "planted-pull-secret"}})
	post("/v1/volume/targets", map[string]any{"node_uuid": id, "volume_type": "iscsi", "volume_id": "v1", "boot_index": 0,
		"properties": map[string]any{"auth_password": "planted-volume-secret"}})
	step := func(word string) map[string]any {
		return map[string]any{"interface": "bios", "step": "apply_configuration", "priority": 150,
			"args": map[string]any{"settings": []any{map[string]any{"name": "AdminPassword", "value": word}}}}
	}
	post("/v1/deploy_templates", map[string]any{"name": "CUSTOM_PLANTED",
		"steps": []any{step("planted-template-argument")}})
	runbook := step("planted-runbook-argument")
	delete(runbook, "priority")
	runbook["order"] = 1
	post("/v1/runbooks", map[string]any{"name": "CUSTOM_PLANTED", "steps": []any{runbook}})
	post("/v1/inspection_rules", map[string]any{"description": "planted", "actions": []any{map[string]any{
		"op": "set-attribute", "args": []any{"/driver_info/redfish_password", "planted-rule-argument"}}}})
	c.Call(t, "POST", "/api/v1/namespaces", map[string]any{"kind": "Namespace", "apiVersion": "v1",
		"metadata": map[string]any{"name": "metal3"}}, http.StatusCreated)
	c.Call(t, "POST", servetest.SecretsPath, map[string]any{"metadata": map[string]any{"name": "planted"},
		"stringData": map[string]any{"username": "admin", "password": "planted-host-secret"}}, http.StatusCreated)
	for _, verb := range [][2]string{{"manage", "manageable"}, {"provide", "available"}, {"active", "active"},
		{"rescue", "rescue"}} {
		body := map[string]any{"target": verb[0]}
		if verb[0] == "active" {
			body["configdrive"] = map[string]any{"user_data": "planted-user-data"}
		}
		if verb[0] == "rescue" {
			body["rescue_password"] = "planted-rescue-password"
		}
		c.Call(t, "PUT", "/v1/nodes/busy/states/provision", body, http.StatusAccepted)
		c.Until(t, "busy", verb[1])
	}
}

// plantInStore stores the values that only an agent and a run leave: a token, and a step at work.
func plantInStore(t *testing.T, dir string) {
	t.Helper()
	inStore(t, dir, func(_ context.Context, s *store.Database) {
		change(t, s, node.Change{Insert: &node.Node{
			UUID: uuid.NewString(), Name: "waits", Driver: "fake-hardware", ProvisionState: node.CleanWait,
			CreatedAt: time.Now(), Deadline: time.Now().Add(time.Hour),
			Agent: node.Agent{URL: "https://127.0.0.1:9", Token: "planted-agent-token", TokenSent: true},
			Run: &node.Run{Activity: "clean", Generation: 1, Steps: []node.Step{{Interface: "deploy", Step: "s", InBand: true,
				Args: map[string]any{"bmc_password": "planted-step-argument"}}}},
		}})
	})
}

// TestSealedAtRest: the database and the WAL of a busy conductor hold no planted word,
// while it runs, after a kill, and after the next start.
func TestSealedAtRest(t *testing.T) {
	dir := t.TempDir()
	start(t, dir).End(t)
	plantInStore(t, dir)
	c := start(t, dir)
	busy, over := sync.WaitGroup{}, make(chan struct{})
	busy.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(2 * time.Millisecond):
				if words := plainWords(t, dir); words != nil {
					t.Errorf("in plain while it runs: %q", words)
					return
				}
			}
		}
	})
	plantSecrets(t, c)
	close(over)
	busy.Wait()
	killed := t.TempDir() // the folder as a kill would leave it
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	private(t, killed)
	if words := plainWords(t, killed); words != nil {
		t.Errorf("in plain after a kill: %q", words)
	}
	if info, err := os.Stat(filepath.Join(killed, datafolder.WALFile)); err != nil || info.Size() == 0 {
		t.Errorf("a killed conductor leaves no WAL: %v", err)
	}
	c.End(t)
	checkPlanted(t, killed)
	if out, err := storeCheckOf(t, killed); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// checkPlanted starts a conductor on a folder, and finds the secrets in it whole.
func checkPlanted(t *testing.T, dir string) {
	t.Helper()
	start(t, dir).End(t)
	if words := plainWords(t, dir); words != nil {
		t.Errorf("in plain after a start: %q", words)
	}
	inStore(t, dir, func(ctx context.Context, s *store.Database) {
		bmc, err := s.Node(ctx, "bmc")
		busy, busyErr := s.Node(ctx, "busy")
		waits, waitsErr := s.Node(ctx, "waits")
		targets, targetsErr := s.Catalogs().VolumeTargets.List(ctx, "")
		if err := errors.Join(err, busyErr, waitsErr, targetsErr); err != nil || len(targets) != 1 {
			t.Fatal(err)
		}
		drive, _ := busy.InstanceInfo["configdrive"].(map[string]any)
		for word, found := range map[string]any{
			"planted-bmc-password": bmc.DriverInfo["redfish_password"], "planted-user-data": drive["user_data"],
			"planted-pull-secret":   busy.InstanceInfo["image_pull_secret"],
			"planted-agent-token":   waits.Agent.Token,
			"planted-volume-secret": targets[0].Properties["auth_password"],
		} {
			if found != word {
				t.Errorf("%s is %v", word, found)
			}
		}
	})
}

// TestRecordedIsSealed: the secrets of a folder of an earlier build are in plain before
// the first start of this build, and not after it.
func TestRecordedIsSealed(t *testing.T) {
	dir := unpackRecorded(t, olderFolder)
	if words := plainWords(t, dir); len(words) != 2 {
		t.Errorf("the recorded folder holds %q, want the password in the database and in the WAL", words)
	}
	start(t, dir).End(t)
	if words := plainWords(t, dir); words != nil {
		t.Errorf("in plain after the first start: %q", words)
	}
}

// TestWrongKeyAtStart: a conductor refuses the key of another folder, by the name of the
// file, and changes nothing. With the right key it starts.
func TestWrongKeyAtStart(t *testing.T) {
	dir := migrated(t)
	path := filepath.Join(dir, "secrets-key.pem")
	right, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Keys(dir); err != nil { // makes another one
		t.Fatal(err)
	}
	before := contents(t, dir)
	for _, args := range [][]string{nil, {"--init"}} {
		_, err := command(t.Context(), append(args, "--data-dir", dir, "--api-address", servetest.AnyPort)...)
		for _, want := range []string{"the key secrets-key.pem does not open the database", " rows of nodes, ",
			"Restore the key of the same backup", "start once with --init"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("with %q it ended with %v, want %q", args, err, want)
			}
		}
	}
	if after := contents(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the folder was changed")
	}
	if err := os.WriteFile(path, right, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, dir).End(t)
}

// TestLostKeyAtStart: without the key a conductor starts with --init alone. It drops the values that no key opens, and
// says so.
func TestLostKeyAtStart(t *testing.T) {
	dir := migrated(t)
	if err := os.Remove(filepath.Join(dir, "secrets-key.pem")); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t.Context(), "--data-dir", dir, "--api-address", servetest.AnyPort); err == nil ||
		!strings.Contains(err.Error(), "the key secrets-key.pem is missing") {
		t.Errorf("it ended with %v", err)
	}
	c := start(t, dir, "--init")
	if log := c.Log.String(); !strings.Contains(log, "drop the data that the lost key") {
		t.Errorf("the log does not say what was dropped: %s", log)
	}
	n := c.Call(t, "GET", "/v1/nodes/in-active", nil, http.StatusOK)
	if info, _ := n["driver_info"].(map[string]any); info["redfish_address"] == nil || info["redfish_password"] != nil {
		t.Errorf("driver_info is %v", info)
	}
	c.End(t)
	start(t, dir).End(t)
}
