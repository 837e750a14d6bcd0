//go:build e2e

package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// deed is one change of a document by an operator, and the host after all its consequences.
type deed struct {
	name   string
	method string
	path   string // of the document
	body   any
	until  func(hostapi.Host) bool // nil: nothing follows
}

// witness keeps the document of a host that we have let go, to be looked at.
const witness = "example.org/witness"

func secretOf(name string, data map[string]any) deed {
	return deed{"secret " + name, http.MethodPost, servetest.SecretsPath + "/" + name, map[string]any{
		"kind": "Secret", "apiVersion": "v1", "metadata": map[string]any{"name": name}, "stringData": data,
	}, nil}
}

func imageOf(url string, spec servetest.MergePatch) deed {
	spec["image"] = map[string]any{"url": url, "checksum": strings.Repeat("0", 64), "checksumType": "sha256",
		"format": "raw"}
	return deed{"image " + path.Base(url), http.MethodPatch, servetest.HostPath, servetest.MergePatch{"spec": spec},
		func(h hostapi.Host) bool {
			return servetest.IsDone(h, hostapi.StateProvisioned) && h.Status.Provisioning.Image.URL == url
		}}
}

// hostLife is the whole life of a host: registered, inspected, prepared,
// provisioned, provisioned with another image, and deleted while it is on.
var hostLife = []deed{
	secretOf("bmc", map[string]any{"username": "admin", "password": "secret"}),
	secretOf("config",
		map[string]any{"userData": "#cloud-config\n", "networkData": "links: []\n", "metaData": "rack: r1\n"}),
	{"host", http.MethodPost, servetest.HostPath, map[string]any{
		"kind": hostapi.KindHost, "apiVersion": hostapi.APIVersion,
		"metadata": map[string]any{"name": "one", "finalizers": []string{witness}},
		"spec": map[string]any{
			"online": true, "bootMACAddress": "52:54:00:00:00:01", "inspectionMode": "fast",
			"bmc": map[string]any{"address": "fake://one", "credentialsName": "bmc"},
		},
	}, func(h hostapi.Host) bool {
		return servetest.IsDone(h, hostapi.StateAvailable)
	}},
	imageOf("http://images/a", servetest.MergePatch{"userData": servetest.SecretNamed("config"),
		"networkData": servetest.SecretNamed("config"),
		"metaData":    servetest.SecretNamed("config")}),
	imageOf("http://images/b", servetest.MergePatch{}),
	{"deleted", http.MethodDelete, servetest.HostPath, nil, func(h hostapi.Host) bool {
		return h.DeletionTimestamp != nil && !slices.Contains(h.Finalizers, hostapi.Finalizer)
	}},
	{"no finalizer", http.MethodPatch, servetest.HostPath,
		servetest.MergePatch{"metadata": map[string]any{"finalizers": nil}}, nil},
	{"no secret", http.MethodDelete, servetest.SecretsPath + "/bmc", nil, nil},
	{"no secret", http.MethodDelete, servetest.SecretsPath + "/config", nil, nil},
}

// sight is all that there is to be seen once a deed is done.
type sight struct {
	Deed    string
	Lists   map[string]any
	History []string
}

// document lives the life of a host by its documents, whoever dies meanwhile.
func (o *operator) document(deeds []deed) (sights []sight) {
	o.t.Helper()
	o.begin()
	defer o.stop()
	for _, d := range deeds {
		o.commit(d)
		o.await(d)
		sights = append(sights, o.look(d))
	}
	o.stop()
	o.checkDatabase()
	return sights
}

// commit does one thing. It is done again only when its document shows that it
// was not accepted.
func (o *operator) commit(d deed) {
	o.t.Helper()
	where := d.path
	if d.method == http.MethodPost {
		where = path.Dir(d.path)
	}
	was := o.version(d.path)
	o.asks = d.name
	for {
		status, answer, err := o.c.Send(d.method, where, d.body)
		if err != nil {
			o.revive(err)
			o.went = d.name + ": accepted unheard, goes on"
		} else if status/100 != 2 {
			o.t.Fatalf("%s is answered %d: %s", d.name, status, answer)
		}
		if o.version(d.path) != was {
			return
		}
		if err == nil {
			o.t.Fatalf("%s was accepted, and is forgotten", d.name)
		}
		o.went = d.name + ": not accepted, asked again"
	}
}

// version changes with everything that people do to a document; "" for none.
func (o *operator) version(path string) string {
	o.t.Helper()
	var d struct{ Metadata hostapi.ObjectMeta }
	if answer := o.get(path); answer == nil {
		return ""
	} else if err := json.Unmarshal(answer, &d); err != nil {
		o.t.Fatal(err)
	}
	return fmt.Sprint(d.Metadata.UID, d.Metadata.Generation, d.Metadata.DeletionTimestamp)
}

// await waits until the host has reached the state of a deed, and its node is not reserved.
func (o *operator) await(d deed) {
	o.t.Helper()
	var h hostapi.Host
	for end := time.Now().Add(servetest.Patience); d.until != nil && !d.until(h); time.Sleep(2 * time.Millisecond) {
		h = hostapi.Host{}
		if err := json.Unmarshal(o.get(servetest.HostPath), &h); err != nil {
			o.t.Fatal(err)
		}
		if time.Now().After(end) {
			o.t.Fatalf("%s: the host stays %+v\n%s", d.name, h.Status, o.c.Log)
		}
	}
	for _, n := range o.nodes() {
		o.rest(n)
	}
}

// nodes are those there are.
func (o *operator) nodes() (uuids []string) {
	o.t.Helper()
	var list struct{ Nodes []struct{ UUID string } }
	if err := json.Unmarshal(o.get("/v1/nodes"), &list); err != nil {
		o.t.Fatal(err)
	}
	for _, n := range list.Nodes {
		uuids = append(uuids, n.UUID)
	}
	return uuids
}

// More texts that differ between any two lives.
var (
	someUUID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	version  = regexp.MustCompile(`"resourceVersion":"[0-9]+"`)
)

// look reads documents, nodes and ports, with names of our own for UUIDs.
func (o *operator) look(d deed) sight {
	o.t.Helper()
	s := sight{Deed: d.name, Lists: map[string]any{}}
	called := map[string]string{}
	for _, list := range []string{servetest.HostsPath, servetest.HardwarePath, servetest.SecretsPath, "/v1/nodes/detail",
		"/v1/ports/detail"} {
		text := strings.ReplaceAll(string(o.get(list)), o.c.URL, "URL")
		text = version.ReplaceAllString(times.ReplaceAllString(text, "TIME"), `"resourceVersion":""`)
		text = someUUID.ReplaceAllStringFunc(text, func(u string) string {
			if called[u] == "" {
				called[u] = fmt.Sprintf("UUID %d", len(called)+1)
			}
			return called[u]
		})
		var all map[string]any
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			o.t.Fatal(err)
		}
		s.Lists[list] = all
	}
	for _, uuid := range o.nodes() {
		s.History = append(s.History, o.history(uuid, tell)...)
	}
	return s
}

// TestE2EKillNineHost kills a conductor before, amid and after every single write of the life of a host, to its
// documents and to its node. Each write is named, since different parts of the conductor write documents and nodes, and
// their order varies. The end is the same as undisturbed: each machine is deployed once for each image, has one node
// and one HardwareData, and leaves nothing behind. Then the life is gone through by conductors that live for two writes
// each.
func TestE2EKillNineHost(t *testing.T) { killNineHost(t, inFolder, sample) }

// TestE2EKillNineHostOnPostgres does the same to conductors with their database on a server.
func TestE2EKillNineHostOnPostgres(t *testing.T) { killNineHost(t, postgrestest.URL, *postgresSample) }

// killNineHost kills at every so many a write.
func killNineHost(t *testing.T, database func(testing.TB) string, sample int) {
	t.Helper()
	smooth := &operator{t: t, dir: t.TempDir(), database: database(t), address: "127.0.79.1"}
	want := smooth.document(hostLife)
	writes := named(smooth.diary())
	if len(writes) < 5*len(hostLife) {
		t.Fatalf("only %d writes are known of: %v", len(writes), writes)
	}
	var all sync.WaitGroup
	rows := make([]string, 3*len(writes))
	turns := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	for i, write := range writes {
		if i%sample != 0 {
			continue
		}
		for k, m := range []moment{before, amid, after} {
			at := cut{m, write.nth, write.write}
			all.Go(func() {
				turns <- struct{}{}
				defer func() { <-turns }()
				t.Run(at.String(), func(t *testing.T) {
					o := &operator{t: t, dir: t.TempDir(), database: database(t), cuts: []cut{at},
						address: fmt.Sprintf("127.0.%d.%d", 80+k, 1+i)}
					compare(t, want, o.document(hostLife))
					if o.lives != 2 {
						t.Errorf("%d lives, want 2; the first wrote %q", o.lives, o.diary())
					}
					rows[3*i+k] = fmt.Sprintf("%-6s %d  %-60s  %s", m, at.nth, at.write, o.went)
				})
			})
		}
	}
	all.Wait()
	table := slices.DeleteFunc(rows, func(row string) bool { return row == "" })
	t.Run("2 writes a life", func(t *testing.T) {
		o := &operator{t: t, dir: t.TempDir(), database: database(t), address: "127.0.79.2",
			everyLife: cut{moment: after, nth: 2}}
		compare(t, want, o.document(hostLife))
		if o.lives < len(writes)/3 {
			t.Errorf("the conductor had only %d lives", o.lives)
		}
		table = append(table, fmt.Sprintf("after     each of %d lives ends after write 2", o.lives))
	})
	t.Logf("%d writes, %d cuts\n%s", len(writes), len(table), strings.Join(table, "\n"))
}

// named is the writes of a diary as a cut names them.
func named(diary []string) (writes []cut) {
	nth := map[string]int{}
	for _, line := range diary {
		if strings.HasPrefix(line, claiming) { // only the part after the write differs
			line = claiming
		}
		nth[line]++
		writes = append(writes, cut{nth: nth[line], write: line})
	}
	return writes
}
