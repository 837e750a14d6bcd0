package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// groupOf is the annotation of a host's conductor group.
func groupOf(group any) map[string]any { return map[string]any{hostapi.AnnotationGroup: group} }

// makeHost makes the document of a host of fake hardware, and the secret of its BMC.
func makeHost(t *testing.T, c *conductor, i int, group string) (name string) {
	t.Helper()
	if status, text, err := c.Send("POST", servetest.SecretsPath, map[string]any{"metadata": map[string]any{"name": "bmc"},
		"stringData": map[string]any{"username": "admin", "password": "a-planted-word"}}); err != nil ||
		status != http.StatusCreated && status != http.StatusConflict {
		t.Fatalf("the secret: %d %s %v", status, text, err)
	}
	name = fmt.Sprintf("h%d", i)
	c.Call(t, "POST", servetest.HostsPath, map[string]any{
		"metadata": map[string]any{"name": name, "annotations": groupOf(group)},
		"spec": map[string]any{"online": true, "bootMACAddress": fmt.Sprintf("52:54:00:00:03:%02x", i),
			"bmc": map[string]any{"address": "fake://" + name, "credentialsName": "bmc"}}}, http.StatusCreated)
	return name
}

// patchHost changes a host, through any conductor that answers.
func patchHost(t *testing.T, name string, patch servetest.MergePatch, by ...*conductor) {
	t.Helper()
	askAny(t, "PATCH", servetest.HostsPath+"/"+name, patch, by...)
}

// askAny makes a request until a conductor has done it: a takeover has no leader. The answer is nil where there is no
// such record.
func askAny(t *testing.T, method, path string, body any, by ...*conductor) []byte {
	t.Helper()
	for end := time.Now().Add(servetest.Patience); ; time.Sleep(20 * time.Millisecond) {
		var tries []string
		for _, c := range by {
			status, text, err := c.Send(method, path, body)
			switch {
			case err == nil && status == http.StatusOK:
				return text
			case err == nil && status == http.StatusNotFound:
				return nil
			}
			tries = append(tries, fmt.Sprintf("%d %s %v", status, text, err))
		}
		if time.Now().After(end) {
			t.Fatalf("%s %s: %s", method, path, strings.Join(tries, "; "))
		}
	}
}

// readHost is a host, an empty one where there is none.
func readHost(t *testing.T, name string, by ...*conductor) (h hostapi.Host) {
	t.Helper()
	text := askAny(t, "GET", servetest.HostsPath+"/"+name, nil, by...)
	if text == nil {
		return h
	}
	if err := json.Unmarshal(text, &h); err != nil {
		t.Fatal(err)
	}
	return h
}

// hostIs waits until a host is as wanted.
func hostIs(t *testing.T, name, what string, is func(h hostapi.Host) bool, by ...*conductor) hostapi.Host {
	t.Helper()
	for end := time.Now().Add(servetest.Patience); ; time.Sleep(20 * time.Millisecond) {
		h := readHost(t, name, by...)
		if is(h) {
			return h
		}
		if time.Now().After(end) {
			t.Fatalf("the host %s is %s with the error %q, expected %s", name, h.Status.Provisioning.State,
				h.Status.ErrorMessage, what)
		}
	}
}

func hostBecomes(t *testing.T, name string, s hostapi.State, by ...*conductor) hostapi.Host {
	t.Helper()
	return hostIs(t, name, string(s), func(h hostapi.Host) bool {
		return h.Status.Provisioning.State == s && h.Status.ErrorMessage == ""
	}, by...)
}

// hostGone waits until a host is deleted.
func hostGone(t *testing.T, name string, by ...*conductor) {
	t.Helper()
	hostIs(t, name, "to be gone", func(h hostapi.Host) bool { return h.UID == "" }, by...)
}

// hostImage is a change of a host's image.
func hostImage(url string) servetest.MergePatch {
	if url == "" {
		return servetest.MergePatch{"spec": map[string]any{"image": nil}}
	}
	return servetest.MergePatch{"spec": map[string]any{"image": map[string]any{"url": url,
		"checksum": fmt.Sprintf("%064d", 0), "checksumType": "sha256", "format": "raw"}}}
}

// TestHostsOfGroups: a host of a group beside the default one goes through its life, with its DataImage and firmware
// documents, by any conductor. Its node moves between groups. A group without a leader is reported.
func TestHostsOfGroups(t *testing.T) {
	t.Parallel()
	database, key := postgrestest.URL(t), clusterKey(t, "0123456789")
	near := startMember(t, "near", database, key)
	ready(t, near)
	rack := startMember(t, "rack", database, key, "--group", "rack-a")
	ready(t, rack)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("near:\n%s\nrack:\n%s", near.Log, rack.Log)
		}
	})
	groupIs := func(h hostapi.Host, want string) {
		t.Helper()
		n := rack.Call(t, "GET", "/v1/nodes/"+h.Status.Provisioning.ID, nil, http.StatusOK)
		if n["conductor_group"] != want {
			t.Errorf("the node of %s is in the group %q, want %q", h.Name, n["conductor_group"], want)
		}
	}
	name, second := makeHost(t, rack, 1, "Rack-A"), makeHost(t, near, 2, "rack-a")
	patchHost(t, second, hostImage("http://images/a"), near)
	h := hostBecomes(t, name, hostapi.StateAvailable, near)
	groupIs(h, "rack-a")
	if h.Status.Hardware == nil {
		t.Error("the inspection is missing in the host")
	}
	patchHost(t, name, hostImage("http://images/a"), near)
	hostBecomes(t, name, hostapi.StateProvisioned, rack)
	checkFirmwareDocuments(t, near, name)
	hostBecomes(t, second, hostapi.StateProvisioned, near)
	checkDataImage(t, rack, second)
	near.Call(t, "DELETE", servetest.HostsPath+"/"+second, nil, http.StatusOK)
	patchHost(t, name, servetest.MergePatch{"spec": map[string]any{"online": false}}, rack)
	hostIs(t, name, "off", func(h hostapi.Host) bool { return !h.Status.PoweredOn }, near)
	status, text, err := rack.Send("PUT", "/v1/nodes/"+h.Status.Provisioning.ID+"/states/provision",
		map[string]any{"target": "deleted"})
	if err != nil || status != http.StatusConflict || !strings.Contains(string(text), "metal3/"+name) {
		t.Errorf("a node behind a host of another group was deleted by its API: %d %s %v", status, text, err)
	}

	patchHost(t, name, servetest.MergePatch{"metadata": map[string]any{"annotations": groupOf("rack-x")}}, near)
	h = hostIs(t, name, "told that it does not move", func(h hostapi.Host) bool { return notMoved(h) != "" }, rack)
	for _, want := range []string{`no conductor of the conductor group "rack-x"`, `"rack-a"`, hostapi.AnnotationGroup} {
		if !strings.Contains(notMoved(h), want) || h.Status.OperationalStatus != hostapi.StatusOK {
			t.Errorf("of an unknown group is said %q, %q, expected %q", h.Status.OperationalStatus, notMoved(h), want)
		}
	}
	groupIs(h, "rack-a")
	patchHost(t, name, servetest.MergePatch{"metadata": map[string]any{"annotations": groupOf("")},
		"spec": map[string]any{"online": true}}, near)
	h = hostIs(t, name, "on", func(h hostapi.Host) bool { return h.Status.PoweredOn && h.Status.ErrorMessage == "" }, near)
	groupIs(h, "")
	patchHost(t, name, servetest.MergePatch{"metadata": map[string]any{"annotations": groupOf("rack-a")}}, near)
	hostIs(t, name, "in rack-a", func(h hostapi.Host) bool {
		n := near.Call(t, "GET", "/v1/nodes/"+h.Status.Provisioning.ID, nil, http.StatusOK)
		return n["conductor_group"] == "rack-a" && n["reservation"] == nil
	}, near)

	rack.End(t)
	patchHost(t, name, hostImage(""), near)
	h = hostIs(t, name, "in error", func(h hostapi.Host) bool { return h.Status.ErrorMessage != "" }, near)
	if !strings.Contains(h.Status.ErrorMessage, `conductor group "rack-a"`) || h.Status.ErrorCount != 0 {
		t.Errorf("the error without a leader is %q, %d times", h.Status.ErrorMessage, h.Status.ErrorCount)
	}
	rack = startMember(t, "rack", database, key, "--group", "rack-a")
	ready(t, rack)
	hostBecomes(t, name, hostapi.StateAvailable, rack)
	rack.Call(t, "DELETE", servetest.HostsPath+"/"+name, nil, http.StatusOK)
	hostGone(t, name, rack)
	hostGone(t, second, rack)
	if status, _, _ := near.Send("GET", "/v1/nodes/"+h.Status.Provisioning.ID, nil); status != http.StatusNotFound {
		t.Errorf("the node of a deleted host: %d", status)
	}
	rack.End(t)
	near.End(t)
}

// notMoved is why a host's node stays in its group.
func notMoved(h hostapi.Host) string {
	for _, c := range h.Status.Conditions {
		if c.Type == hostapi.ConditionReady {
			return c.Message
		}
	}
	return ""
}

const documentsPath = "/apis/metal3.io/v1alpha1/namespaces/metal3/"

// checkFirmwareDocuments: the documents about firmware are made for a host of any group.
func checkFirmwareDocuments(t *testing.T, c *conductor, name string) {
	t.Helper()
	for _, kind := range []string{"hardwaredata", "hostfirmwaresettings"} {
		for end := time.Now().Add(servetest.Patience); ; time.Sleep(50 * time.Millisecond) {
			status, text, err := c.Send("GET", documentsPath+kind+"/"+name, nil)
			if err == nil && status == http.StatusOK {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: %d %s %v", kind, status, text, err)
			}
		}
	}
}

// checkDataImage has an image in the virtual drive of a machine that is rebooted.
func checkDataImage(t *testing.T, c *conductor, name string) {
	t.Helper()
	c.Call(t, "POST", documentsPath+"dataimages", map[string]any{"metadata": map[string]any{"name": name},
		"spec": map[string]any{"url": "http://images/a.iso"}}, http.StatusCreated)
	patchHost(t, name, servetest.MergePatch{"metadata": map[string]any{"annotations": map[string]any{
		hostapi.AnnotationReboot: ""}}}, c)
	for end := time.Now().Add(servetest.Patience); ; time.Sleep(50 * time.Millisecond) {
		var i hostapi.DataImage
		if err := json.Unmarshal(askAny(t, "GET", documentsPath+"dataimages/"+name, nil, c), &i); err != nil {
			t.Fatal(err)
		}
		if i.Status.AttachedImage.URL == "http://images/a.iso" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the DataImage is %+v", i.Status)
		}
	}
}

// TestHostsOutliveLeaders: the leader of a group, or of the default group, is killed at any point in the lives of the
// group's hosts. The hosts go on, and nothing is done twice.
func TestHostsOutliveLeaders(t *testing.T) {
	t.Parallel()
	const hosts = 8
	database, key := postgrestest.URL(t), clusterKey(t, "0123456789")
	begin := func(name, group string) *servetest.Process {
		return servetest.StartProcess(t, filepath.Join(t.TempDir(), name), "--database", database, "--cluster-key-file", key,
			"--host", name, "--group", group)
	}
	alive := map[string]*servetest.Process{}
	groups := map[string]string{"near1": "", "near2": "", "rack1": "rack-a", "rack2": "rack-a"}
	for _, name := range []string{"near1", "near2", "rack1", "rack2"} { // or one of the rack led the default group first
		alive[name] = begin(name, groups[name])
		ready(t, &alive[name].Conductor)
	}
	all := func() (some []*conductor) {
		for _, p := range alive {
			some = append(some, &p.Conductor)
		}
		return some
	}
	t.Cleanup(func() {
		if t.Failed() {
			for name, p := range alive {
				t.Logf("%s:\n%s", name, p.Log)
			}
		}
	})
	killLeader := func(group string) {
		t.Helper()
		name := leaderOf(t, group, all()...)
		alive[name].Kill()
		delete(alive, name)
		t.Logf("killed %s, which led %q", name, group)
		next := name + "b"
		alive[next], groups[next] = begin(next, groups[name]), groups[name]
	}
	var names []string
	for i := range hosts {
		names = append(names, makeHost(t, all()[0], i, "rack-a"))
	}
	become := func(s hostapi.State) {
		t.Helper()
		for _, name := range names {
			hostBecomes(t, name, s, all()...)
		}
	}
	killLeader("rack-a") // amid registration and inspection
	become(hostapi.StateAvailable)
	for i, name := range names {
		patchHost(t, name, hostImage("http://images/a"), all()...)
		if i == hosts/2 {
			killLeader("") // amid provisioning
		}
	}
	become(hostapi.StateProvisioned)
	for i, name := range names {
		patchHost(t, name, hostImage(""), all()...)
		if i == hosts/2 {
			killLeader("rack-a") // amid deprovisioning
		}
	}
	become(hostapi.StateAvailable)
	for _, name := range names {
		checkOnce(t, readHost(t, name, all()...).Status.Provisioning.ID, all()...)
	}
	for i, name := range names {
		askAny(t, "DELETE", servetest.HostsPath+"/"+name, nil, all()...)
		if i == hosts/2 {
			killLeader("")
		}
	}
	for _, name := range names {
		hostGone(t, name, all()...)
	}
	var left struct {
		Nodes []any `json:"nodes"`
	}
	if err := json.Unmarshal(askAny(t, "GET", "/v1/nodes", nil, all()...), &left); err != nil || len(left.Nodes) > 0 {
		t.Errorf("nodes are left: %v %v", left.Nodes, err)
	}
}

// leaderOf is the conductor that leads a group.
func leaderOf(t *testing.T, group string, by ...*conductor) string {
	t.Helper()
	for end := time.Now().Add(servetest.Patience); ; time.Sleep(20 * time.Millisecond) {
		var answer struct {
			Conductors []struct {
				Name, Group   string
				Leader, Alive bool
			}
		}
		if err := json.Unmarshal(askAny(t, "GET", "/ferrite/v1/conductors", nil, by...), &answer); err != nil {
			t.Fatal(err)
		}
		for _, c := range answer.Conductors {
			if c.Group == group && c.Leader && c.Alive {
				return c.Name
			}
		}
		if time.Now().After(end) {
			t.Fatalf("nobody leads %q: %+v", group, answer)
		}
	}
}

// checkOnce: a node's history has each request of its host, once, and nothing else.
func checkOnce(t *testing.T, uuid string, by ...*conductor) {
	t.Helper()
	var answer struct {
		History []struct{ Event string }
	}
	text := askAny(t, "GET", "/v1/nodes/"+uuid+"/history?detail=true", nil, by...)
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	began := map[string]int{}
	for _, line := range answer.History {
		if what, is := strings.CutSuffix(line.Event, " started"); is {
			began[what]++
		}
	}
	want := map[string]int{"verify": 1, "inspect": 1, "clean": 2, "deploy": 1, "delete": 1}
	if diff := cmp.Diff(want, began); diff != "" {
		t.Errorf("node %s (-want +got):\n%s", uuid, diff)
	}
}
