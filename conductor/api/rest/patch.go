package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

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

// Operation is one checked operation of a patch.
type Operation struct {
	Op, Path string
	Raw      map[string]any // as sent
}

// Patch reads the body of a PATCH and checks its form.
func (c *Call) Patch() ([]Operation, error) {
	v, present, err := c.Body(nodeapi.BodyLimit)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		if !present {
			v = map[string]any{}
		}
		return nil, BadRequest("Schema error for patch: %s is not of type 'array'", Python(v))
	}
	if len(list) > maxOperations {
		return nil, BadRequest("Schema error for patch: %d operations, the limit is %d", len(list), maxOperations)
	}
	pattern, allowed := plainPath, `^(/[\w-]+)+$`
	if c.Minor >= 98 {
		pattern, allowed = escapedPath, `^(/([\w-]|~[01])+)+$`
	}
	ops := make([]Operation, len(list))
	for i, item := range list {
		if ops[i], err = checkOperation(item, pattern, allowed); err != nil {
			return nil, BadRequest("Schema error for patch: %v", err)
		}
		if err := nodeapi.CheckField(ops[i].Path[1:], ops[i].Raw["value"]); err != nil {
			return nil, BadRequest("Schema error for patch: %v", err)
		}
	}
	return ops, nil
}

func checkOperation(item any, pattern *regexp.Regexp, allowed string) (Operation, error) {
	raw, ok := item.(map[string]any)
	if !ok {
		return Operation{}, fmt.Errorf("%s is not of type 'object'", Python(item))
	}
	for _, key := range SortedKeys(raw) {
		if key != "op" && key != "path" && key != "value" {
			return Operation{}, errors.New(Additional(key))
		}
	}
	for _, key := range []string{"op", "path"} {
		if _, ok := raw[key]; !ok {
			return Operation{}, fmt.Errorf("'%s' is a required property", key)
		}
	}
	op, _ := raw["op"].(string)
	if op != "add" && op != "replace" && op != "remove" {
		return Operation{}, fmt.Errorf("%s is not one of ['add', 'replace', 'remove']", Python(raw["op"]))
	}
	path, _ := raw["path"].(string)
	if !pattern.MatchString(path) {
		return Operation{}, fmt.Errorf("%s does not match '%s'", Python(raw["path"]), allowed)
	}
	if _, ok := raw["value"]; !ok && op != "remove" {
		return Operation{}, fmt.Errorf("'value' is a required property of %s", op)
	}
	return Operation{op, path, raw}, nil
}

// Field is the top-level field an operation is about.
func (o Operation) Field() string {
	name, _, _ := strings.Cut(o.Path[1:], "/")
	return name
}

// Patchable refuses operations on fields that cannot be changed, and on those
// newer than the microversion.
func (t *Table[T]) Patchable(minor int, ops []Operation) error {
	for _, o := range ops {
		i, ok := t.ByName[o.Field()]
		if !ok || t.fields[i].Use&Patchable == 0 {
			return BadRequest("Cannot patch %.200s. Only the following can be updated: %s", o.Path,
				strings.Join(t.usable(Patchable, minor), ", "))
		}
		if t.fields[i].Since > minor {
			return NotAcceptable()
		}
	}
	return nil
}

// Apply carries a checked patch out on a resource. The fields it touches become a document, the patch changes that, and
// Apply sets the changed fields.
func (t *Table[T]) Apply(c *Call, ops []Operation, of *T) error {
	doc := map[string]any{}
	for _, o := range ops {
		doc[o.Field()] = t.fields[t.ByName[o.Field()]].Get(of)
	}
	before, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("the fields of a %s as JSON: %w", t.Kind, err)
	}
	after, err := applyAll(before, ops)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(after)
	if err != nil {
		return fmt.Errorf("a patched %s as JSON: %w", t.Kind, err)
	}
	if err := checkPatched(len(before), raw); err != nil {
		return err
	}
	if more := len(raw) - len(before); more > 0 && c.grow != nil {
		if err := c.grow(c, int64(more)); err != nil {
			return err
		}
	}
	for _, name := range SortedKeys(doc) {
		if err := nodeapi.CheckSize(name, doc[name], after[name]); err != nil {
			return BadRequest("Couldn't apply patch: %v", err)
		}
	}
	for _, name := range SortedKeys(doc) {
		if err := t.fields[t.ByName[name]].Set(of, after[name]); err != nil {
			return t.patchFault(err)
		}
	}
	return nil
}

// checkPatched refuses results that a series of patches could reach though no single patch may: nesting that readers
// cannot parse, and a size that every list would carry. A config drive may make a resource larger than a patch can.
func checkPatched(before int, after []byte) error {
	if len(after) > nodeapi.BodyLimit && len(after) > before {
		return nodeapi.NewFault(http.StatusRequestEntityTooLarge, "The patched fields would be %d bytes, the limit is %d",
			len(after), nodeapi.BodyLimit)
	}
	if err := nodeapi.CheckJSON(after); err != nil {
		return BadRequest("Couldn't apply patch: the result is %v", err)
	}
	return nil
}

func (t *Table[T]) patchFault(err error) error {
	if wrong, ok := err.(*SchemaError); ok { //nolint:errorlint // set functions return it bare
		return BadRequest("Schema error for patch: %s", wrong.Text)
	}
	return err
}
