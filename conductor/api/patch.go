package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sort"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// JSON patch as Ironic takes it: RFC 6902 with add, replace and remove only.

// A path is made of words; from 1.98 on ~0 and ~1 stand for ~ and /.
var (
	plainPath   = regexp.MustCompile(`^(/[\p{L}\p{N}_-]+)+$`)
	escapedPath = regexp.MustCompile(`^(/([\p{L}\p{N}_-]|~[01])+)+$`)
)

// maxOperations bounds one patch: each costs a walk through the document.
const maxOperations = 1000

// operation is one checked operation of a patch.
type operation struct {
	op, path string
	raw      map[string]any // as sent
}

// patch reads the body of a PATCH and checks its form.
func (c *call) patch() ([]operation, error) {
	v, present, err := c.body(nodeapi.BodyLimit)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		if !present {
			v = map[string]any{}
		}
		return nil, badRequest("Schema error for patch: %s is not of type 'array'", python(v))
	}
	if len(list) > maxOperations {
		return nil, badRequest("Schema error for patch: %d operations, the limit is %d", len(list), maxOperations)
	}
	pattern, allowed := plainPath, `^(/[\w-]+)+$`
	if c.minor >= 98 {
		pattern, allowed = escapedPath, `^(/([\w-]|~[01])+)+$`
	}
	ops := make([]operation, len(list))
	for i, item := range list {
		if ops[i], err = checkOperation(item, pattern, allowed); err != nil {
			return nil, badRequest("Schema error for patch: %v", err)
		}
		if err := nodeapi.CheckField(ops[i].path[1:], ops[i].raw["value"]); err != nil {
			return nil, badRequest("Schema error for patch: %v", err)
		}
	}
	return ops, nil
}

func checkOperation(item any, pattern *regexp.Regexp, allowed string) (operation, error) {
	raw, ok := item.(map[string]any)
	if !ok {
		return operation{}, fmt.Errorf("%s is not of type 'object'", python(item))
	}
	for _, key := range sortedKeys(raw) {
		if key != "op" && key != "path" && key != "value" {
			return operation{}, errors.New(additional(key))
		}
	}
	for _, key := range []string{"op", "path"} {
		if _, ok := raw[key]; !ok {
			return operation{}, fmt.Errorf("'%s' is a required property", key)
		}
	}
	op, _ := raw["op"].(string)
	if op != "add" && op != "replace" && op != "remove" {
		return operation{}, fmt.Errorf("%s is not one of ['add', 'replace', 'remove']", python(raw["op"]))
	}
	path, _ := raw["path"].(string)
	if !pattern.MatchString(path) {
		return operation{}, fmt.Errorf("%s does not match '%s'", python(raw["path"]), allowed)
	}
	if _, ok := raw["value"]; !ok && op != "remove" {
		return operation{}, fmt.Errorf("'value' is a required property of %s", op)
	}
	return operation{op, path, raw}, nil
}

// field is the top-level field an operation is about.
func (o operation) field() string {
	name, _, _ := strings.Cut(o.path[1:], "/")
	return name
}

// patchable refuses operations on fields that cannot be changed, and on those
// newer than the microversion.
func (t *table[T]) patchable(minor int, ops []operation) error {
	for _, o := range ops {
		i, ok := t.byName[o.field()]
		if !ok || t.fields[i].use&patchable == 0 {
			return badRequest("Cannot patch %s. Only the following can be updated: %s", o.path, strings.Join(t.usable(patchable, minor), ", "))
		}
		if t.fields[i].since > minor {
			return notAcceptable()
		}
	}
	return nil
}

// apply carries a checked patch out on a resource: the fields it touches
// become a document, the patch changes that, and what changed is set back.
func (t *table[T]) apply(ops []operation, of *T) error {
	doc := map[string]any{}
	for _, o := range ops {
		doc[o.field()] = t.fields[t.byName[o.field()]].get(of)
	}
	before, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("the fields of a %s as JSON: %w", t.kind, err)
	}
	raw, err := applyAll(before, ops)
	if err != nil {
		return err
	}
	if err := checkPatched(len(before), raw); err != nil {
		return err
	}
	var after map[string]any
	if err := json.Unmarshal(raw, &after); err != nil {
		return fmt.Errorf("a patched %s: %w", t.kind, err)
	}
	for _, name := range sortedKeys(doc) {
		if err := t.fields[t.byName[name]].set(of, after[name]); err != nil {
			return t.patchFault(err)
		}
	}
	return nil
}

// checkPatched refuses what patches, one after the other, could make of a resource
// though no single one may: nesting that its readers cannot follow, and a size
// that every list would carry. A config drive may make it larger than a patch can.
func checkPatched(before int, after []byte) error {
	if len(after) > nodeapi.BodyLimit && len(after) > before {
		return nodeapi.NewFault(http.StatusRequestEntityTooLarge, "The patched fields would be %d bytes, the limit is %d", len(after), nodeapi.BodyLimit)
	}
	if err := nodeapi.CheckJSON(after); err != nil {
		return badRequest("Couldn't apply patch: the result is %v", err)
	}
	return nil
}

func (t *table[T]) patchFault(err error) error {
	if wrong, ok := err.(*schemaError); ok { //nolint:errorlint // set functions return it bare
		return badRequest("Schema error for patch: %s", wrong.text)
	}
	return err
}

// applyAll applies the operations in order. When that fails it looks for the
// first that does: the operations up to it fail, those before it do not.
func applyAll(doc []byte, ops []operation) ([]byte, error) {
	if len(ops) == 0 {
		return doc, nil
	}
	patched, err := apply(doc, ops)
	if err == nil {
		return patched, nil
	}
	first := sort.Search(len(ops)-1, func(i int) bool {
		_, err := apply(doc, ops[:i+1])
		return err != nil
	})
	_, err = apply(doc, ops[:first+1])
	return nil, badRequest("Couldn't apply patch '%s'. Reason: %v", python(ops[first].raw), err)
}

func apply(doc []byte, ops []operation) ([]byte, error) {
	list := make([]any, len(ops))
	for i, o := range ops {
		list[i] = o.raw
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	p, err := jsonpatch.DecodePatch(raw)
	if err != nil {
		return nil, err
	}
	return p.Apply(doc)
}
