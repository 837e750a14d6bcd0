package kube_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// asProtobuf is how kubectl from 1.32 on asks and answers.
const asProtobuf = "\nContent-Type: application/vnd.kubernetes.protobuf\nAccept: " +
	"application/vnd.kubernetes.protobuf,application/json"

// Bodies that kubectl 1.33.1 has sent, of its create secret generic, create
// secret docker-registry, create namespace and create secret --save-config.
const (
	sentSecret    = "6b3873000a0c0a027631120653656372657412340a130a0373333312001a0022002a0032003800420012060a016112016212130a0870617373776f7264120768756e746572321a001a002200"
	sentRegistry  = "6b3873000a0c0a027631120653656372657412a2010a120a02647212001a0022002a00320038004200126c0a112e646f636b6572636f6e6669676a736f6e12577b226175746873223a7b2268747470733a2f2f696e6465782e646f636b65722e696f2f76312f223a7b22757365726e616d65223a2275222c2270617373776f7264223a2270222c2261757468223a2264547077227d7d7d1a1e6b756265726e657465732e696f2f646f636b6572636f6e6669676a736f6e1a002200"
	sentNamespace = "6b3873000a0f0a02763112094e616d657370616365121b0a130a036e333312001a0022002a0032003800420012001a020a001a002200"
	sentApplied   = "6b3873000a0c0a027631120653656372657412c2010ab5010a0373333412001a0022002a00320038004200629f010a306b75626563746c2e6b756265726e657465732e696f2f6c6173742d6170706c6965642d636f6e66696775726174696f6e126b7b226b696e64223a22536563726574222c2261706956657273696f6e223a227631222c226d65746164617461223a7b226e616d65223a22733334222c226372656174696f6e54696d657374616d70223a6e756c6c7d2c2264617461223a7b2261223a2259673d3d227d7d0a12060a01611201621a001a002200"
)

func unhex(t testing.TB, s string) string {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The parts of a body that is made by hand.
func part(number protowire.Number, b ...string) string {
	return string(protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType),
		[]byte(strings.Join(b, ""))))
}

func count(number protowire.Number, n uint64) string {
	return string(protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), n))
}

func enveloped(kind, message string) string {
	return "k8s\x00" + part(1, part(1, "v1"), part(2, kind)) + part(2, message)
}

// TestProtobuf: bodies of newer kubectls are accepted, and answered in JSON.
func TestProtobuf(t *testing.T) {
	s := start(t)
	for path, sent := range map[string][]string{secrets: {sentSecret, sentRegistry, sentApplied},
		"/api/v1/namespaces": {sentNamespace}} {
		for _, body := range sent {
			w := s.send("POST "+path+asProtobuf, unhex(t, body))
			if w.Code != http.StatusCreated || w.Header().Get("Content-Type") != "application/json" ||
				w.Header().Get("Warning") != "" {
				t.Errorf("answered %d, %v: %s", w.Code, w.Header(), w.Body)
			}
		}
	}
	got := map[string]hostapi.Secret{}
	for _, name := range []string{"s33", "dr", "s34"} {
		d, err := objects.Get[hostapi.Secret](t.Context(), s.keeper, "metal3", name)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = hostapi.Secret{Type: d.Type, Data: d.Data, ObjectMeta: hostapi.ObjectMeta{Annotations: d.Annotations}}
	}
	want := map[string]hostapi.Secret{
		"s33": {Type: "Opaque", Data: map[string][]byte{"a": []byte("b"), "password": []byte("hunter2")}},
		"dr": {Type: "kubernetes.io/dockerconfigjson", Data: map[string][]byte{
			".dockerconfigjson": []byte(
				`{"auths":{"https://index.docker.io/v1/":{"username":"u","password":"p","auth":"dTpw"}}}`)}},
		"s34": {Type: "Opaque", Data: map[string][]byte{"a": []byte("b")},
			ObjectMeta: hostapi.ObjectMeta{Annotations: map[string]string{
				"kubectl.kubernetes.io/last-applied-configuration": `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s34","creationTimestamp":null},"data":{"a":"Yg=="}}` + "\n"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.ok(http.StatusOK, "GET /api/v1/namespaces/n33", "")
}

// TestProtobufFields: every field there is arrives where JSON has it.
func TestProtobufFields(t *testing.T) {
	s := start(t)
	owner := part(5, "metal3.io/v1alpha1") + part(1, "BareMetalHost") + part(3, "node-0") + part(4, "u1") +
		count(6, 1) + count(7, 0)
	meta := part(1, "a") + part(3, "metal3") + part(4, "/link") + part(11, part(1, "rack"), part(2, "7")) +
		part(11, part(1, "row"), part(2, "2")) +
		part(12, part(1, "note"), part(2, "")) + part(12, part(1, "empty")) + part(13, owner) + part(14, "example.org/a") +
		part(14, "example.org/b") + part(17, part(1, "kubectl"))
	secret := part(1, meta) + part(2, part(1, "key"), part(2, "\x00\xff")) + part(3, "mine") +
		part(4, part(1, "clear"), part(2, "text")) + count(5, 1)
	if w := s.send("POST "+secrets+asProtobuf, enveloped("Secret", secret)); w.Code != http.StatusCreated ||
		w.Header().Get("Warning") != "" {
		t.Fatalf("answered %d, %v: %s", w.Code, w.Header(), w.Body)
	}
	got, err := objects.Get[hostapi.Secret](t.Context(), s.keeper, "metal3", "a")
	if err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	want := got
	want.Labels, want.Annotations = map[string]string{"rack": "7", "row": "2"}, map[string]string{"note": "", "empty": ""}
	want.OwnerReferences = []hostapi.OwnerReference{{APIVersion: "metal3.io/v1alpha1", Kind: "BareMetalHost",
		Name: "node-0", UID: "u1", Controller: &yes, BlockOwnerDeletion: &no}}
	want.Finalizers, want.Type, want.Immutable = []string{"example.org/a", "example.org/b"}, "mine", &yes
	want.Data = map[string][]byte{"key": {0, 0xff}, "clear": []byte("text")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	stale := part(1, part(1, "a"), part(6, "1"), part(8, count(1, 1767225600)), part(8, ""))
	if w := s.send("PUT "+secrets+"/a"+asProtobuf, enveloped("Secret", stale)); w.Code != http.StatusConflict {
		t.Errorf("an old version is answered with %d: %s", w.Code, w.Body)
	}
}

// TestProtobufDeletion: a deletion in protobuf has the same effect as in JSON, for every kind.
func TestProtobufDeletion(t *testing.T) {
	s := start(t)
	s.ok(http.StatusCreated, "POST "+secrets, aSecret)
	s.ok(http.StatusCreated, "POST "+hosts, aHost)
	for _, path := range []string{secrets + "/node-0-bmc", hosts + "/node-0"} {
		for body, code := range map[string]int{
			part(2, part(1, "another")): http.StatusConflict, part(2, part(2, "1")): http.StatusConflict,
			part(4, "Sideways"): http.StatusBadRequest,
			part(5, "Some"):     http.StatusBadRequest, part(5, "All") + part(4, "Background"): http.StatusOK,
			count(3, 1) + part(5, "All"): http.StatusOK,
		} {
			if w := s.send("DELETE "+path+asProtobuf, enveloped("DeleteOptions", body)); w.Code != code {
				t.Errorf("%s, %q: answered %d, want %d: %s", path, body, w.Code, code, w.Body)
			}
		}
		s.ok(http.StatusOK, "DELETE "+path+asProtobuf, enveloped("DeleteOptions", count(1, 0)+part(4, "Background")))
	}
}

// TestProtobufRefused: a body that is broken, or has no meaning here, is refused before anything changes.
func TestProtobufRefused(t *testing.T) {
	s := start(t)
	named := part(1, part(1, "a"))
	for name, c := range map[string]struct {
		path, body string
		code       int
		want       string
	}{
		"a kind of Metal3": {hosts, enveloped("BareMetalHost", named), http.StatusUnsupportedMediaType,
			"accepted media types include: application/json, application/yaml\""},
		"another kind": {secrets, enveloped("Pod", named), http.StatusBadRequest,
			"does not match the expected one (Secret)"},
		"no magic":       {secrets, named, http.StatusBadRequest, "does not begin with"},
		"cut off":        {secrets, unhex(t, sentSecret)[:40], http.StatusBadRequest, "envelope"},
		"cut off inside": {secrets, enveloped("Secret", named[:4]), http.StatusBadRequest, "no such protobuf message"},
		"a number for text": {secrets, enveloped("Secret", part(1, count(1, 7))), http.StatusBadRequest,
			"metadata: name has wire type 0, expected 2"},
		"no UTF-8": {secrets, enveloped("Secret", part(1, part(1, "\xff"))), http.StatusBadRequest,
			"no text in UTF-8"},
		"a field too far": {secrets, enveloped("Secret", part(201, "")), http.StatusBadRequest, "field 201: no message"},
		"no time": {secrets, enveloped("Secret", part(1, part(1, "a"), part(8, count(1, 1<<62)))),
			http.StatusBadRequest, "are no time"},
		"compressed": {secrets, enveloped("Secret", named) + part(3, "gzip"), http.StatusBadRequest,
			"contentEncoding"},
		"an envelope more": {secrets, enveloped("Secret", named) + part(4, "application/json"), http.StatusBadRequest,
			"contentType"},
		"an unknown field": {secrets + "?fieldValidation=Strict", enveloped("Secret", part(1, part(1, "a"), part(99, "x"))),
			http.StatusBadRequest, `unknown field \"metadata.(field 99)\"`},
		"a form unknown": {secrets + "\nContent-Type: text/plain", "x", http.StatusUnsupportedMediaType,
			"application/vnd.kubernetes.protobuf"},
	} {
		path, own, _ := strings.Cut(c.path, "\n")
		header := asProtobuf
		if own != "" {
			header = "\n" + own
		}
		if w := s.send("POST "+path+header, c.body); w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: answered %d, want %d with %q: %s", name, w.Code, c.code, c.want, w.Body)
		}
	}
	if w := s.send("POST "+secrets+asProtobuf, enveloped("Secret", part(1, part(1, "a"))+part(9, "x"))); w.Header().Get(
		"Warning") != `299 - "unknown field \"(field 9)\""` {
		t.Errorf("an unknown field is warned of by %q", w.Header().Get("Warning"))
	}
	if w := s.send("GET "+secrets+"\nAccept: application/vnd.kubernetes.protobuf",
		""); w.Code != http.StatusNotAcceptable {
		t.Errorf("who takes nothing but protobuf is answered %d", w.Code)
	}
}

// FuzzProtobuf sends bodies in protobuf, raw and in an envelope, to all handlers that take them.
func FuzzProtobuf(f *testing.F) {
	for _, seed := range []string{sentSecret, sentRegistry, sentNamespace, sentApplied} {
		f.Add([]byte(unhex(f, seed)))
	}
	f.Add([]byte(part(1, part(1, "a"), part(8, count(1, 1)), part(13, part(1, "x")), part(14, "y"))))
	f.Add([]byte(part(2, part(1, "u"), part(2, "1")) + part(5, "All")))
	f.Add([]byte(base64.StdEncoding.EncodeToString([]byte("k8s"))))
	f.Fuzz(func(t *testing.T, body []byte) {
		s := start(t)
		for kind, path := range map[string]string{"Secret": secrets, "Namespace": "/api/v1/namespaces"} {
			for _, text := range []string{string(body), enveloped(kind, string(body))} {
				w := s.send("POST "+path+asProtobuf, text)
				fine(t, s, w.Code, w.Body.String())
				w = s.send("PUT "+path+"/a"+asProtobuf, text)
				fine(t, s, w.Code, w.Body.String())
			}
			w := s.send("GET "+path+asTable, "")
			fine(t, s, w.Code, w.Body.String())
			w = s.send("DELETE "+path+"/a"+asProtobuf, enveloped("DeleteOptions", string(body)))
			fine(t, s, w.Code, w.Body.String())
		}
	})
}
