package kube_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestControlCharacters: no text of a document, path or query takes a character
// that ends a text in a database or that a terminal obeys; nothing is kept of it.
func TestControlCharacters(t *testing.T) {
	s := start(t)
	const host = `{"metadata":{"name":"a","labels":{"l":"*"},"annotations":{"*":"*"}},"spec":{"online":true,"description":"*","image":{"url":"http://h/*","checksum":"http://h/sums"},"rootDeviceHints":{"model":"*"}}}`
	refused := func(request, body string) {
		t.Helper()
		for i := range body {
			if body[i] != '*' {
				continue
			}
			for _, control := range []string{`\u0000`, `\u001b`, `\u007f`} {
				bad := strings.ReplaceAll(body[:i], "*", "f") + control + strings.ReplaceAll(body[i+1:], "*", "f")
				if w := s.send(request, bad); w.Code != http.StatusBadRequest ||
					!strings.Contains(w.Body.String(), "control character") {
					t.Errorf("%s %s: %d %s", request, bad, w.Code, w.Body)
				}
			}
		}
	}
	refused("POST "+hosts, host)
	if all := s.ok(http.StatusOK, "GET "+hosts, ""); strings.Contains(all, `"name":"a"`) {
		t.Errorf("a refused host was kept: %s", all)
	}
	s.ok(http.StatusCreated, "POST "+hosts, strings.ReplaceAll(host, "*", "f"))
	refused("PUT "+hosts+"/a", host)
	refused("PATCH "+hosts+"/a\nContent-Type: application/merge-patch+json", `{"spec":{"description":"*"}}`)
	for _, path := range []string{hosts + "/%00", hosts + "?labelSelector=a%3D%1b", hosts + "?fieldSelector=%00",
		hosts + "?%00=1", "/api/v1/namespaces/%00/secrets"} {
		s.ok(http.StatusBadRequest, "GET "+path, "")
	}
	s.ok(http.StatusCreated, "POST "+secrets,
		`{"metadata":{"name":"a"},"stringData":{"userData":"#cloud-config\n\u001b"}}`)
}

// leaves is the documents that come of putting a star at the end of each string of v
// in turn, and of each key that is free.
func leaves(v any, whole func(any) string) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{whole(v + "*")}
	case []any:
		for i, item := range v {
			all = append(all, leaves(item, func(with any) string {
				list := slices.Clone(v)
				list[i] = with
				return whole(list)
			})...)
		}
	case map[string]any:
		for key, item := range v {
			all = append(all, leaves(item, func(with any) string {
				m := maps.Clone(v)
				m[key] = with
				return whole(m)
			})...)
			if key == "free" {
				m := maps.Clone(v)
				m["*"] = item
				all = append(all, whole(m))
			}
		}
	}
	return all
}

// filled gives every field of a document a value, lists and maps one item.
func filled(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if depth < 12 {
			v.Set(reflect.New(v.Type().Elem()))
			filled(v.Elem(), depth+1)
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				filled(f, depth+1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0), depth+1)
	case reflect.Map:
		item := reflect.New(v.Type().Elem()).Elem()
		filled(item, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("free").Convert(v.Type().Key()), item)
	case reflect.String:
		v.SetString("f")
	default: // has no text
	}
}

// example is a document of a kind with all its fields, as JSON has it.
func example(t *testing.T, k hostapi.Kind) map[string]any {
	t.Helper()
	d := k.New()
	filled(reflect.ValueOf(d).Elem(), 0)
	*d.About(), *d.Meta() = hostapi.TypeMeta{}, hostapi.ObjectMeta{Name: "a", Labels: map[string]string{"free": "f"},
		Annotations: map[string]string{"free": "f"}, Finalizers: []string{"f"}}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	delete(v, "stringData") // any text: it is kept in base64
	return v
}

// TestControlCharactersInEveryKind: in every kind, verb and form of a body, no string takes a control character, and
// nothing is kept of a body that has one.
func TestControlCharactersInEveryKind(t *testing.T) {
	s := start(t)
	asked := 0
	refused := func(request, body string) {
		t.Helper()
		asked++
		bad := strings.ReplaceAll(body, "*", `\u0000\u001b`)
		if w := s.send(request, bad); w.Code != http.StatusBadRequest ||
			!strings.Contains(w.Body.String(), "control character") {
			t.Errorf("%s %s: %d %s", request, bad, w.Code, w.Body)
		}
	}
	specs := map[string]string{
		hostapi.KindDataImage:         `{"metadata":{"name":"a"},"spec":{"url":"http://h/a.iso"}}`,
		hostapi.KindSubscription:      `{"metadata":{"name":"a"},"spec":{"hostName":"h","destination":"http://h/"}}`,
		hostapi.KindNetworkAttachment: `{"metadata":{"name":"a"},"spec":{"nativeVLAN":1}}`,
		hostapi.KindSwitch:            `{"metadata":{"name":"a"},"spec":{"address":"h","macAddress":"52:54:00:00:00:01","deviceType":"d"}}`,
	}
	for _, k := range hostapi.Kinds() {
		if specs[k.Kind] == "" {
			specs[k.Kind] = `{"metadata":{"name":"a"}}`
		}
		all := "/apis/" + k.Group + "/" + k.Version + "/"
		if k.Group == "" {
			all = "/api/" + k.Version + "/"
		}
		if k.Namespaced {
			all += "namespaces/metal3/"
		}
		all += k.Plural
		one := []string{all + "/a"}
		if k.Status {
			one = append(one, all+"/a/status")
		}
		for _, path := range append(one, all) {
			refused("DELETE "+strings.TrimSuffix(path, "/status"), `{"preconditions":{"uid":"*"}}`)
			refused("DELETE "+strings.TrimSuffix(path, "/status"), `{"propagationPolicy":"*"}`)
		}
		bodies := leaves(example(t, k), func(v any) string {
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		})
		for _, body := range bodies {
			refused("POST "+all, body)
		}
		s.ok(http.StatusNotFound, "GET "+all+"/a", "")
		s.ok(http.StatusCreated, "POST "+all, specs[k.Kind])
		for _, path := range one {
			for _, body := range bodies {
				refused("PUT "+path, body)
				refused("PATCH "+path+asMerge, body)
				if k.Group == "" {
					refused("PATCH "+path+strategic, body)
				}
			}
			for _, op := range []string{`"op":"*","path":"/a"`, `"op":"remove","path":"/*"`,
				`"op":"copy","from":"/*","path":"/metadata/labels"`, `"op":"add","path":"/metadata/labels","value":{"a":"*"}`} {
				refused("PATCH "+path+asJSON, "[{"+op+"}]")
			}
			if k.Group == "" {
				refused("PATCH "+path+strategic, `{"metadata":{"$patch":"*"}}`)
			}
		}
	}
	if asked < 1000 {
		t.Errorf("only %d requests were made", asked)
	}
}
