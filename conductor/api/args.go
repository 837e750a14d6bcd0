package api

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// body reads a JSON body. present is false when there is none.
func (c *call) body(limit int64) (v any, present bool, err error) {
	raw, err := nodeapi.ReadBody(c.Response(), c.Request(), limit)
	if err != nil || raw == nil {
		return nil, false, err
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, false, badRequest("Invalid JSON in the request body: %v", err)
	}
	if err := nodeapi.CheckText(v); err != nil {
		return nil, false, badRequest("Invalid text in the request body: %v", err)
	}
	fields, _ := v.(map[string]any)
	for name, value := range fields {
		if err := nodeapi.CheckField(name, value); err != nil {
			return nil, false, badRequest("Invalid text in the request body: %v", err)
		}
	}
	return v, true, nil
}

// checkURL refuses control characters in what the path and the query name.
func (c *call) checkURL() error {
	for _, value := range c.ParamValues() {
		if err := nodeapi.CheckLine(value); err != nil {
			return badRequest("Malformed request URI: %v", err)
		}
	}
	for name, values := range c.QueryParams() {
		for _, value := range append(values, name) {
			if err := nodeapi.CheckLine(value); err != nil {
				return badRequest("Invalid query argument %q: %v", name, err)
			}
		}
	}
	return nil
}

// object reads a body that describes a resource.
func (c *call) object(kind string) (map[string]any, error) {
	v, present, err := c.body(nodeapi.BodyLimit)
	if err != nil || !present {
		return map[string]any{}, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, badRequest("Schema error for %s: %s is not of type 'object'", kind, python(v))
	}
	return m, nil
}

// args are the arguments of an action. Ironic takes them from the body or from
// the query, but not one from both.
type args map[string]any

func (c *call) args(limit int64, known ...string) (args, error) {
	v, present, err := c.body(limit)
	if err != nil {
		return nil, err
	}
	a, ok := v.(map[string]any)
	if present && !ok {
		return nil, badRequest("Invalid JSON in the request body: expected an object, found %s", python(v))
	}
	if a == nil {
		a = args{}
	}
	for key, values := range c.QueryParams() {
		if old, twice := a[key]; twice || len(values) > 1 {
			return nil, badRequest("Expected one value for %s: %s and %s", key, python(old), strings.Join(values, ", "))
		}
		a[key] = values[0]
	}
	return a, unexpected(sortedKeys(a), known)
}

// unexpected refuses argument names that nobody knows.
func unexpected(names, known []string) error {
	var extra []string
	for _, name := range names {
		if !contains(known, name) {
			extra = append(extra, name)
		}
	}
	if extra != nil {
		return badRequest("Unexpected arguments: %s", strings.Join(extra, ", "))
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, item := range list {
		if item == s {
			return true
		}
	}
	return false
}

// need is text of an argument that must be there. null reads as "".
func (a args) need(name string) (string, error) {
	if _, ok := a[name]; !ok {
		return "", badRequest("Missing mandatory parameter: %s", name)
	}
	return a.text(name)
}

// text is "" for an argument that is absent or null.
func (a args) text(name string) (string, error) {
	s, ok := a[name].(string)
	if !ok && a[name] != nil {
		return "", badRequest("Expected string for %s: %s", name, python(a[name]))
	}
	return s, nil
}

// truth is an optional boolean argument.
func (a args) truth(name string) (bool, error) {
	if a[name] == nil {
		return false, nil
	}
	return asBool(name, a[name])
}

// needTruth is a boolean argument that must be there.
func (a args) needTruth(name string) (bool, error) {
	v, ok := a[name]
	if !ok {
		return false, badRequest("Missing mandatory parameter: %s", name)
	}
	if v == nil {
		return false, badRequest("Invalid %s None: it is one of True, False", name)
	}
	return asBool(name, v)
}

// whole is an optional integer argument.
func (a args) whole(name string) (n int, present bool, err error) {
	switch v := a[name].(type) {
	case nil:
		return 0, false, nil
	case float64:
		if v == float64(int(v)) {
			return int(v), true, nil
		}
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			return n, true, nil
		}
	}
	return 0, false, badRequest("Expected an integer for %s: %s", name, strings.Trim(python(a[name]), "'"))
}

// list is an optional argument that is a list of objects.
func (a args) list(name string) ([]map[string]any, error) {
	if a[name] == nil {
		return nil, nil
	}
	items, ok := a[name].([]any)
	if !ok {
		return nil, badRequest("Expected types <class 'NoneType'>, <class 'list'> for %s: %s", name, strings.Trim(python(a[name]), "'"))
	}
	objects := make([]map[string]any, len(items))
	for i, item := range items {
		if objects[i], ok = item.(map[string]any); !ok {
			return nil, badRequest("Invalid %s: %s is not of type 'object'", name, python(item))
		}
	}
	return objects, nil
}

// object is an optional argument that is an object; nil when it is absent or null.
func (a args) object(name string) (map[string]any, error) {
	m, ok := a[name].(map[string]any)
	if !ok && a[name] != nil {
		return nil, badRequest("Invalid %s: %s is not of type 'object'", name, python(a[name]))
	}
	return m, nil
}
