package kube

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/yamljson"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// unsupported is the answer to bodies in an unknown form.
func unsupported(known ...string) error {
	return failed(http.StatusUnsupportedMediaType, unsupportedMedia,
		"the body of the request was in an unknown format - accepted media types include: %s", strings.Join(known, ", "))
}

// fields reads the body, JSON or YAML, as it is, or protobuf of this shape unless
// that is nil; nil when there is none.
func (c *call) fields(packed message) (map[string]any, error) {
	kind, _ := mediaType(c.Header.Get("Content-Type"))
	text, err := io.ReadAll(c.Body)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	switch {
	case kind == "application/json", kind == "":
	case kind == protobufType && packed != nil:
		return fromProtobuf(text, packed)
	case kind == "application/yaml":
		if text, err = yamljson.From(text, maxBody); err != nil {
			return nil, badRequest("the body is no YAML: %v", err)
		}
	case packed != nil:
		return nil, unsupported("application/json", "application/yaml", protobufType)
	default:
		return nil, unsupported("application/json", "application/yaml")
	}
	return object(text)
}

// object reads a JSON object; numbers keep their digits.
func object(text []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return nil, badRequest("the body is no JSON object: %v", err)
	}
	if d.More() {
		return nil, badRequest("the body has more than one JSON object")
	}
	return v, nil
}

// document reads the body as a document of the call's kind.
func (c *call) document() (hostapi.Document, error) {
	v, err := c.fields(protobufKinds[c.kind.Kind])
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, badRequest("the body is empty: expected a %s", c.kind.Kind)
	}
	return c.parse(v)
}

// parse makes a document of a JSON object. It warns of unknown fields, or refuses them if the request asks for that,
// and checks that the document is the one in the path.
func (c *call) parse(v map[string]any) (hostapi.Document, error) {
	for name, want := range map[string]string{"kind": c.kind.Kind, "apiVersion": c.kind.APIVersion()} {
		if got, ok := v[name]; ok && got != want {
			return nil, badRequest("the %s in the data (%v) does not match the expected one (%s)", name, got, want)
		}
	}
	if err := c.unknown(hostapi.Prune(c.kind, v)); err != nil {
		return nil, err
	}
	if err := refusedText(c.kind.Kind, checkControls(v)); err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := c.kind.New()
	if err := json.Unmarshal(text, d); err != nil {
		return nil, c.unreadable(v, err)
	}
	*d.About() = hostapi.TypeMeta{Kind: c.kind.Kind, APIVersion: c.kind.APIVersion()}
	if err := c.named(d.Meta()); err != nil {
		return nil, err
	}
	if c.sub == "" {
		for _, text := range hostapi.Warnings(d) {
			c.warn(text)
		}
	}
	return d, nil
}

// warn adds a warning to the answer, which kubectl shows (RFC 7234, 5.5).
func (c *call) warn(text string) { c.w.Header().Add("Warning", `299 - "`+quoted(text)+`"`) }

// named checks that a document is the one in the path.
func (c *call) named(m *hostapi.ObjectMeta) error {
	if m.Namespace == "" {
		m.Namespace = c.namespace
	}
	if m.Namespace != c.namespace {
		return badRequest("the namespace of the provided object (%s) does not match the namespace sent on the request (%s)",
			m.Namespace, c.namespace)
	}
	if c.name == "" {
		return nil
	}
	if m.Name == "" {
		m.Name = c.name
	}
	if m.Name != c.name {
		return badRequest("the name of the object (%s) does not match the name on the URL (%s)", m.Name, c.name)
	}
	return nil
}

// maxWarnings bounds the unknown fields in warnings.
const maxWarnings = 20

// unknown handles unknown fields as fieldValidation says; the default is a warning.
func (c *call) unknown(fields []string) error {
	how := c.arg("fieldValidation")
	switch how {
	case "", "Warn", "Strict", "Ignore":
	default:
		return badRequest("fieldValidation %q: expected Ignore, Warn or Strict", how)
	}
	if how == "Ignore" || len(fields) == 0 {
		return nil
	}
	var texts []string
	for i, f := range fields {
		if i == maxWarnings {
			texts = append(texts, fmt.Sprintf("and %d more unknown fields", len(fields)-i))
			break
		}
		texts = append(texts, fmt.Sprintf("unknown field %q", f))
	}
	if how == "Strict" {
		return badRequest("%s in version %q cannot be handled as a %s: strict decoding error: %s",
			c.kind.Kind, c.kind.Version, c.kind.Kind, strings.Join(texts, ", "))
	}
	for _, t := range texts {
		c.warn(t)
	}
	return nil
}

// quoted is a text for a header, between quotes (RFC 7230, quoted-string).
func quoted(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
}

// unreadable names the field with a wrong type.
func (c *call) unreadable(v map[string]any, err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return invalidDocument(c, nameIn(v),
			[]hostapi.Problem{{Path: typed.Field, Value: typed.Value, Reason: "expected " + jsonType(typed.Type)}})
	}
	if data, ok := v["data"].(map[string]any); ok {
		for k, b := range data {
			if text, ok := b.(string); ok {
				if _, err := base64.StdEncoding.DecodeString(text); err != nil {
					return invalidDocument(c, nameIn(v), []hostapi.Problem{{
						Path: "data[" + k + "]", Reason: "expected base64; clear text belongs in stringData", Forbidden: true,
					}})
				}
			}
		}
	}
	return badRequest("%s in version %q cannot be handled as a %s: %v", c.kind.Kind, c.kind.Version, c.kind.Kind, err)
}

func nameIn(v map[string]any) string {
	meta, _ := v["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	return name
}

// jsonType is a Go type in the words of JSON.
func jsonType(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[hostapi.IntOrString]():
		return "a whole number, or a string in quotes"
	case reflect.TypeFor[hostapi.Time]():
		return "a string"
	case reflect.TypeFor[[]byte]():
		return "base64"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return jsonType(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	default:
		return "a string"
	}
}
