package kube_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// server is one over an empty store, with a clock of its own and counted UIDs.
type server struct {
	t      testing.TB
	keeper *objects.Keeper
	mux    *http.ServeMux
	now    time.Time
	log    bytes.Buffer
}

func start(t testing.TB, change ...func(*kube.Options, *objects.Config)) *server {
	t.Helper()
	s := &server{t: t, mux: http.NewServeMux(), now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	n := 0
	c := objects.Config{Store: mem.New(), Key: make([]byte, 32), Now: func() time.Time { return s.now },
		NewUID: func() string { n++; return fmt.Sprintf("%05d-uid", n) }}
	o := kube.Options{
		Log: slog.New(slog.NewTextHandler(&s.log, nil)), Now: func() time.Time { return s.now.Add(90 * time.Minute) },
	}
	for _, f := range change {
		f(&o, &c)
	}
	var err error
	if s.keeper, err = objects.New(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	o.Keeper = s.keeper
	for prefix, h := range kube.New(o).Handlers() {
		f := func(w http.ResponseWriter, r *http.Request) {
			if err := h(w, r); err != nil {
				t.Errorf("a handler returned %v", err)
			}
		}
		s.mux.HandleFunc(prefix, f)
		s.mux.HandleFunc(prefix+"/", f)
	}
	return s
}

// send makes one request. "method path" may be followed by headers in lines.
func (s *server) send(request, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	lines := strings.Split(request, "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	r := httptest.NewRequestWithContext(s.t.Context(), method, path, strings.NewReader(body))
	for _, l := range lines[1:] {
		key, value, _ := strings.Cut(l, ": ")
		r.Header.Set(key, value)
	}
	w := httptest.NewRecorder()
	s.mux.ServeHTTP(w, r)
	return w
}

// ok makes a request that is answered with a code.
func (s *server) ok(code int, request, body string) string {
	s.t.Helper()
	w := s.send(request, body)
	if w.Code != code {
		s.t.Fatalf("%s answers %d, want %d: %s", request, w.Code, code, w.Body)
	}
	return w.Body.String()
}

// The paths of hosts and secrets, and forms of bodies.
const (
	hosts     = "/apis/metal3.io/v1alpha1/namespaces/metal3/baremetalhosts"
	secrets   = "/api/v1/namespaces/metal3/secrets"
	wishes    = "/apis/metal3.io/v1alpha1/namespaces/metal3/hostfirmwaresettings"
	updates   = "/apis/metal3.io/v1alpha1/namespaces/metal3/hostfirmwarecomponents"
	schemas   = "/apis/metal3.io/v1alpha1/namespaces/metal3/firmwareschemas"
	policies  = "/apis/metal3.io/v1alpha1/namespaces/metal3/hostupdatepolicies"
	metal3    = "/apis/metal3.io/v1alpha1/namespaces/metal3/"
	asTable   = "\nAccept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
	asMerge   = "\nContent-Type: application/merge-patch+json"
	asJSON    = "\nContent-Type: application/json-patch+json"
	strategic = "\nContent-Type: application/strategic-merge-patch+json"
)

const aHost = `{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"node-0","labels":{"rack":"1"}},` +
	`"spec":{"online":true,"bmc":{"address":"redfish://10.0.0.1/redfish/v1/Systems/1","credentialsName":"node-0-bmc"}}}`

const aSecret = `{"metadata":{"name":"node-0-bmc"},"stringData":{"username":"admin","password":"hunter2"}}`

// step is one exchange of a golden file.
type step struct{ request, body string }

// TestExchanges holds whole conversations against golden files, which are read
// beside Kubernetes' API conventions.
func TestExchanges(t *testing.T) {
	for name, steps := range exchanges() {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			var got strings.Builder
			for _, st := range steps {
				got.WriteString("> " + strings.ReplaceAll(st.request, "\n", "\n> ") + "\n")
				if st.body != "" {
					got.WriteString("> " + st.body + "\n")
				}
				got.WriteString(written(s.send(st.request, st.body)) + "\n")
			}
			golden(t, filepath.Join("testdata", name+".txt"), got.String())
			if s.log.Len() > 0 {
				t.Errorf("logged: %s", &s.log)
			}
		})
	}
}

// written is an answer with its JSON laid out.
func written(w *httptest.ResponseRecorder) string {
	out := fmt.Sprintf("< %d %s\n", w.Code, w.Header().Get("Content-Type"))
	for _, v := range w.Header().Values("Warning") {
		out += "< Warning: " + v + "\n"
	}
	var pretty bytes.Buffer
	for line := range strings.SplitSeq(strings.TrimSpace(w.Body.String()), "\n") {
		if json.Indent(&pretty, []byte(line), "", "  ") != nil {
			pretty.WriteString(line)
		}
		pretty.WriteString("\n")
	}
	return out + pretty.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s: -want +got:\n%s", path, d)
	}
}

func exchanges() map[string][]step {
	named := hosts + "/node-0"
	return map[string][]step{
		"discovery": {
			{"GET /version", ""}, {"GET /healthz", ""}, {"GET /livez", ""}, {"GET /readyz", ""},
			{"GET /api", ""}, {"GET /api/v1", ""}, {"GET /apis", ""}, {"GET /apis/metal3.io", ""},
			{"GET /apis/metal3.io/v1alpha1", ""}, {"GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions", ""},
			{"GET /api\nAccept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json", ""},
			{"GET /apis\nAccept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json", ""},
			{"GET /apis/apps", ""}, {"GET /apis/apps/v1", ""}, {"GET /apis/metal3.io/v1", ""}, {"POST /apis", "{}"},
			{"GET /openapi/v3", ""}, {"GET /openapi/v1", ""},
		},
		"life": {
			{"POST " + secrets, aSecret}, {"POST " + hosts, aHost}, {"GET " + named, ""},
			{"GET /apis/metal3.io/v1alpha1/baremetalhosts", ""},
			{"PATCH " + named + asMerge, `{"metadata":{"finalizers":["baremetalhost.metal3.io"]},"spec":{"online":false}}`},
			{"PATCH " + named + "/status" + asMerge,
				`{"spec":{"online":true},"status":{"operationalStatus":"OK","provisioning":{"state":"available","ID":""}}}`},
			{"GET " + named + "/status\nAccept: application/yaml", ""},
			{"DELETE " + named, `{"propagationPolicy":"Background"}`},
			{"DELETE " + named, ""},
			{"PATCH " + named + asJSON, `[{"op":"remove","path":"/metadata/finalizers"}]`},
			{"GET " + named, ""},
			{"DELETE " + secrets + "/node-0-bmc", ""},
		},
		"tables": {
			{"POST " + secrets, aSecret}, {"POST " + hosts, aHost},
			{"PATCH " + named + "/status" + asMerge,
				`{"status":{"operationalStatus":"error","errorType":"registration error","provisioning":{"state":"registering"}}}`},
			{"PATCH " + named + asMerge, `{"spec":{"consumerRef":{"name":"cluster-a"}}}`},
			{"GET " + hosts + asTable, ""}, {"GET " + named + asTable, ""},
			{"GET " + hosts + "?includeObject=None" + asTable, ""},
			{"GET " + secrets + "?includeObject=None" + asTable, ""},
			{"GET /api/v1/namespaces?includeObject=None" + asTable, ""},
			{"GET /api/v1/events?includeObject=None" + asTable, ""},
			{"GET " + hosts + "\nAccept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", ""},
			{"GET " + named + "\nAccept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", ""},
			{"GET " + named + "\nAccept: application/vnd.kubernetes.protobuf", ""},
			{"GET " + named + "\nAccept: application/json;as=Table;v=v1beta1;g=meta.k8s.io", ""},
		},
		"firmware": {
			{"POST " + wishes,
				`{"metadata":{"name":"node-0"},"spec":{"settings":{"BootDelaySeconds":5,"QuietBoot":"true"}},"status":{"settings":{"a":"b"}}}`},
			{"PATCH " + wishes + "/node-0/status" + asMerge,
				`{"status":{"settings":{"BootDelaySeconds":"0"},"schema":{"namespace":"metal3","name":"schema-1"}}}`},
			{"POST " + wishes, `{"metadata":{"name":"a"},"spec":{"settings":{"QuietBoot":true}}}`},
			{"POST " + wishes, `{"metadata":{"name":"a"},"spec":{"setting":{}}}`},
			{"GET " + wishes + "?includeObject=None" + asTable, ""},
			{"POST " + schemas,
				`{"metadata":{"name":"schema-1"},"spec":{"schema":{"QuietBoot":{"attribute_type":"Boolean","read_only":false,"size":1}}}}`},
			{"POST " + updates,
				`{"metadata":{"name":"node-0"},"spec":{"updates":[{"component":"bmc","url":"http://images/bmc.bin"}]}}`},
			{"PATCH " + updates + "/node-0" + asMerge,
				`{"spec":{"updates":[{"component":"bmc","url":"smb://images/bmc.bin"}]}}`},
			{"POST " + policies, `{"metadata":{"name":"node-0"},"spec":{"firmwareSettings":"onReboot"}}`},
			{"PATCH " + policies + "/node-0" + asMerge, `{"spec":{"firmwareUpdates":"never"}}`},
			{"GET " + policies + "/node-0/status", ""},
		},
		"claims": {
			{"POST " + metal3 + "hostclaims", `{"metadata":{"name":"c"},"spec":{"poweredOn":true,"hostSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]},"online":true}}`},
			{"PATCH " + metal3 + "hostclaims/c/status" + asMerge,
				`{"status":{"bareMetalHost":{"namespace":"pool","name":"h"},"conditions":[{"type":"Ready","status":"False","reason":"Provisioning","message":"","lastTransitionTime":"2026-11-22T12:00:00Z"}]}}`},
			{"GET " + metal3 + "hostclaims?includeObject=None" + asTable, ""},
			{"POST " + metal3 + "hostclaims", `{"metadata":{"name":"d"},"spec":{"hostSelector":{"matchExpressions":[{"key":"a","operator":"near"}]}}}`},
			{"POST " + metal3 + "hostdeploypolicies", `{"metadata":{"name":"p"},"spec":{}}`},
			{"POST " + metal3 + "bmceventsubscriptions", `{"metadata":{"name":"s"},"spec":{"hostName":"h","destination":"https://10.0.0.1/"}}`},
			{"PATCH " + metal3 + "bmceventsubscriptions/s" + asMerge, `{"spec":{"context":"x"}}`},
			{"GET " + metal3 + "bmceventsubscriptions?includeObject=None" + asTable, ""},
			{"POST " + metal3 + "preprovisioningimages", `{"metadata":{"name":"i"},"spec":{"acceptFormats":["vhd"]}}`},
			{"GET " + metal3 + "preprovisioningimages?includeObject=None" + asTable, ""},
			{"POST " + metal3 + "hostnetworkattachments", `{"metadata":{"name":"n"},"spec":{"nativeVLAN":100}}`},
			{"GET " + metal3 + "hostnetworkattachments?includeObject=None" + asTable, ""},
			{"POST " + metal3 + "baremetalswitches", `{"metadata":{"name":"w"},"spec":{"address":"10.0.0.1","macAddress":"aa:bb:cc:dd:ee:ff","deviceType":"netmiko_cisco_ios","port":"ssh"}}`},
			{"GET " + metal3 + "baremetalswitches?includeObject=None" + asTable, ""},
			{"POST " + hosts + "?dryRun=All", `{"metadata":{"name":"a"},"spec":{"online":true,"taints":[{"key":"a","effect":"NoSchedule"}],"userData":{"name":"u","namespace":"other"}}}`},
		},
		"refused": {
			{"POST " + hosts,
				`{"kind":"BareMetalHost","metadata":{"name":"Node_0"},"spec":{"bmc":{"address":"foo://x"},"bootMACAddress":"1","image":{"url":"http://x/i"},"raid":{"hardwareRAIDVolumes":[{"level":"7"}]}}}`},
			{"POST " + hosts, `{"metadata":{"name":"a"},"spec":{"online":"yes"}}`},
			{"POST " + hosts, `{"metadata":{"name":"a"},"spec":{"online":true,"image":{"format":"raw"},"foo":{"bar":1}}}`},
			{"POST " + hosts + "?fieldValidation=Strict", `{"metadata":{"name":"a"},"spec":{"online":true,"Online":true}}`},
			{"POST " + hosts + "?dryRun=All",
				`{"metadata":{"name":"a","managedFields":[]},"spec":{"online":true,"Online":true},"status":{"poweredOn":true}}`},
			{"POST " + hosts, `{"kind":"Secret","metadata":{"name":"a"}}`},
			{"POST " + hosts, `{"metadata":{"name":"a","namespace":"other"}}`},
			{"POST " + hosts, `[]`}, {"POST " + hosts, ``}, {"POST " + hosts, `{}`},
			{"POST " + hosts, `{"metadata":{"name":"a","resourceVersion":"1"}}`},
			{"POST " + hosts + "\nContent-Type: application/vnd.kubernetes.protobuf", `x`},
			{"POST " + hosts + "\nContent-Type: application/yaml", "a: [\n"},
			{"POST " + secrets, `{"metadata":{"name":"a"},"data":{"password":"in clear"}}`},
			{"POST " + secrets, `{"metadata":{"name":"a"},"data":{"a/b":"aGk="}}`},
			{"POST /apis/metal3.io/v1alpha1/baremetalhosts", aHost},
			{"DELETE /apis/metal3.io/v1alpha1/namespaces/metal3/baremetalhosts/none", ""},
			{"GET " + hosts + "/none", ""}, {"GET /apis/metal3.io/v1alpha1/namespaces/metal3/pods", ""},
			{"POST " + hosts + "/a/status", "{}"}, {"GET " + hosts + "/a/scale", ""},
			{"DELETE " + hosts + "/a", `{"propagationPolicy":"Sideways"}`}, {"DELETE /api/v1/namespaces/default", ""},
			{"POST /api/v1/events", "{}"},
		},
		"conflicts": {
			{"POST " + hosts, aHost}, {"POST " + hosts, aHost},
			{"PUT " + named, strings.Replace(aHost, `"labels"`, `"resourceVersion":"3","labels"`, 1)},
			{"PUT " + named, strings.Replace(aHost, `{"rack":"1"}`, `{"rack":"2"},"resourceVersion":"3"`, 1)},
			{"PUT " + named, strings.Replace(aHost, `{"rack":"1"}`, `{"rack":"3"},"resourceVersion":"3"`, 1)},
			{"PUT " + named, aHost},
			{"PATCH " + named + asMerge, `{"metadata":{"resourceVersion":"3"},"spec":{"online":false}}`},
			{"PATCH " + named + asMerge, `{"metadata":{"uid":"another"}}`},
			{"PATCH " + named + asMerge, `{"metadata":{"name":"another"}}`},
			{"PUT " + hosts + "/another", aHost},
			{"DELETE " + named, `{"preconditions":{"uid":"another"}}`},
			{"DELETE /api/v1/namespaces/metal3", ""},
		},
		"patches": {
			{"POST " + hosts, aHost}, {"POST " + secrets, aSecret},
			{"PATCH " + named + asJSON,
				`[{"op":"test","path":"/spec/online","value":true},{"op":"replace","path":"/spec/online","value":false},{"op":"add","path":"/metadata/annotations","value":{"a":"b"}}]`},
			{"PATCH " + named + asJSON, `[{"op":"test","path":"/spec/online","value":true}]`},
			{"PATCH " + named + asJSON, `{"op":"test"}`}, {"PATCH " + named + asJSON, `[{"op":"remove","path":"/spec/image"}]`},
			{"PATCH " + named + asMerge, `{"metadata":{"annotations":null},"spec":{"description":"by the door"}}`},
			{"PATCH " + named + asMerge, `[]`}, {"PATCH " + named + asMerge, `{`},
			{"PATCH " + named + asMerge, `{"spec":{"nonsense":true}}`},
			{"PATCH " + named + strategic, `{}`},
			{"PATCH " + named + "?fieldManager=me\nContent-Type: application/apply-patch+yaml", `{}`},
			{"PATCH " + hosts + "/none" + asMerge, `{}`},
			{"PATCH " + secrets + "/node-0-bmc" + strategic,
				`{"metadata":{"finalizers":["a/b","c/d"],"labels":{"x":"y"}},"stringData":{"password":"new"}}`},
			{"PATCH " + secrets + "/node-0-bmc" + strategic,
				`{"metadata":{"$deleteFromPrimitiveList/finalizers":["a/b"],"$setElementOrder/finalizers":["c/d","e/f"],"finalizers":["e/f","c/d"],"labels":{"$patch":"replace","z":"1"}},"data":{"username":null}}`},
			{"PATCH " + secrets + "/node-0-bmc" + strategic,
				`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"o","uid":"1"},{"apiVersion":"v1","kind":"Secret","name":"p","uid":"2"}]}}`},
			{"PATCH " + secrets + "/node-0-bmc" + strategic,
				`{"metadata":{"ownerReferences":[{"uid":"1","$patch":"delete"},{"uid":"2","controller":true}]}}`},
			{"PATCH " + secrets + "/node-0-bmc" + strategic, `{"metadata":{"ownerReferences":[{"name":"o"}]}}`},
			{"PATCH " + secrets + "/node-0-bmc" + strategic, `{"data":{"$patch":"sideways"}}`},
			{"PATCH " + secrets + "/node-0-bmc?dryRun=All" + strategic, `{"data":{"$patch":"delete"}}`},
			{"PATCH " + secrets + "/node-0-bmc?dryRun=Some" + strategic, `{}`},
		},
	}
}

// TestPages reads a list page by page, while documents come and go.
func TestPages(t *testing.T) {
	s := start(t)
	for i := range 7 {
		s.ok(http.StatusCreated, "POST "+hosts,
			fmt.Sprintf(`{"metadata":{"name":"n%d","labels":{"odd":"%t"}},"spec":{"online":true}}`, i, i%2 == 1))
	}
	for name, c := range map[string]struct {
		query string
		want  []string
	}{
		"two at a time":    {"limit=2", []string{"n0 n1", "n2 n3", "n4 n5", "n6"}},
		"selected":         {"limit=2&labelSelector=odd%3Dtrue", []string{"n1 n3", "n5"}},
		"exactly as many":  {"limit=7", []string{"n0 n1 n2 n3 n4 n5 n6"}},
		"all":              {"", []string{"n0 n1 n2 n3 n4 n5 n6"}},
		"by name":          {"fieldSelector=metadata.name%3Dn3", []string{"n3"}},
		"in no such place": {"fieldSelector=metadata.namespace%3Dother", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			revision, next := "", ""
			for {
				var l struct {
					Metadata struct{ ResourceVersion, Continue string }
					Items    []struct{ Metadata struct{ Name string } }
				}
				if err := json.Unmarshal([]byte(s.ok(http.StatusOK, "GET "+hosts+"?"+c.query+"&continue="+next, "")),
					&l); err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, i := range l.Items {
					names = append(names, i.Metadata.Name)
				}
				got = append(got, strings.Join(names, " "))
				if revision == "" {
					revision = l.Metadata.ResourceVersion
				}
				if l.Metadata.ResourceVersion != revision { // else changes in between would be missed
					t.Errorf("a later page is of %s, the first of %s", l.Metadata.ResourceVersion, revision)
				}
				s.ok(http.StatusCreated, "POST "+secrets, `{"metadata":{"generateName":"s-"}}`)
				if next = l.Metadata.Continue; next == "" {
					break
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	for _, bad := range []string{"continue=nonsense", "continue=e30", "limit=x", "limit=-1", "labelSelector=a%20b",
		"fieldSelector=spec.online%3Dtrue", "resourceVersionMatch=Perhaps"} {
		s.ok(http.StatusBadRequest, "GET "+hosts+"?"+bad, "")
	}
	s.ok(http.StatusGone, "GET "+hosts+"?resourceVersion=1&resourceVersionMatch=Exact", "")
}

// TestDeleteAll deletes the selected documents, and nothing else.
func TestDeleteAll(t *testing.T) {
	s := start(t)
	for i := range 4 {
		s.ok(http.StatusCreated, "POST "+hosts,
			fmt.Sprintf(`{"metadata":{"name":"n%d","labels":{"odd":"%t"}},"spec":{"online":true}}`, i, i%2 == 1))
	}
	s.ok(http.StatusOK, "DELETE "+hosts+"?labelSelector=odd%3Dtrue&dryRun=All", "")
	s.ok(http.StatusOK, "DELETE "+hosts+"?labelSelector=odd%3Dtrue", "")
	for i, code := range []int{200, 404, 200, 404} {
		s.ok(code, fmt.Sprintf("GET %s/n%d", hosts, i), "")
	}
}

// TestTooLong: a body that is too long is not read to its end.
func TestTooLong(t *testing.T) {
	s := start(t)
	s.ok(http.StatusRequestEntityTooLarge, "POST "+secrets, `{"metadata":{"name":"`+strings.Repeat("a", 4<<20)+`"}}`)
	s.ok(http.StatusUnprocessableEntity, "POST "+secrets,
		`{"metadata":{"name":"a"},"stringData":{"a":"`+strings.Repeat("a", 1<<20)+`"}}`)
}

// TestOurs: a fault of the conductor is logged, and answered without detail.
func TestOurs(t *testing.T) {
	store := mem.New()
	s := start(t, func(_ *kube.Options, c *objects.Config) { c.Store = store })
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	body := s.ok(http.StatusInternalServerError, "GET "+hosts, "")
	if !strings.Contains(body, "InternalError") || strings.Contains(body, "closed") ||
		!strings.Contains(s.log.String(), "the store is closed") {
		t.Errorf("told %s, logged %s", body, &s.log)
	}
}
