package rest

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Body reads a JSON body. present is false when there is none.
func (c *Call) Body(limit int64) (v any, present bool, err error) {
	if c.body == nil {
		c.body, err = nodeapi.ReadBody(c.Response(), c.Request(), limit)
	}
	if err != nil || c.body == nil {
		return nil, false, err
	}
	if err := json.Unmarshal(c.body, &v); err != nil {
		return nil, false, BadRequest("Invalid JSON in the request body: %v", err)
	}
	if err := nodeapi.CheckText(v); err != nil {
		return nil, false, BadRequest("Invalid text in the request body: %v", err)
	}
	fields, _ := v.(map[string]any)
	for name, value := range fields {
		if err := nodeapi.CheckField(name, value); err != nil {
			return nil, false, BadRequest("Invalid text in the request body: %v", err)
		}
	}
	return v, true, nil
}

// checkURL refuses control characters in path parameters and query arguments.
func (c *Call) checkURL() error {
	for _, value := range c.ParamValues() {
		if err := nodeapi.CheckLine(value); err != nil {
			return BadRequest("Malformed request URI: %v", err)
		}
	}
	for name, values := range c.QueryParams() {
		for _, value := range append(values, name) {
			if err := nodeapi.CheckLine(value); err != nil {
				return BadRequest("Invalid query argument %q: %v", name, err)
			}
		}
	}
	return nil
}

// Object reads a body that describes a resource.
func (c *Call) Object(kind string) (map[string]any, error) {
	v, present, err := c.Body(nodeapi.BodyLimit)
	if err != nil || !present {
		return map[string]any{}, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, BadRequest("Schema error for %s: %s is not of type 'object'", kind, Python(v))
	}
	return m, checkSizes(m)
}

// checkSizes refuses members that are too long.
func checkSizes(m map[string]any) error {
	for _, name := range SortedKeys(m) {
		if err := nodeapi.CheckSize(name, nil, m[name]); err != nil {
			return BadRequest("Invalid request body: %v", err)
		}
	}
	return nil
}

// Args are the arguments of an action. Ironic takes them from the body or from
// the query, but not one from both.
type Args map[string]any

// Args reads the arguments of a request, in the body or the query. Unknown ones are refused.
func (c *Call) Args(limit int64, known ...string) (Args, error) {
	v, present, err := c.Body(limit)
	if err != nil {
		return nil, err
	}
	a, ok := v.(map[string]any)
	if present && !ok {
		return nil, BadRequest("Invalid JSON in the request body: expected an object, found %s", Python(v))
	}
	if a == nil {
		a = Args{}
	}
	for key, values := range c.QueryParams() {
		if old, twice := a[key]; twice || len(values) > 1 {
			return nil, BadRequest("Expected one value for %s: %s and %s", key, Python(old), strings.Join(values, ", "))
		}
		a[key] = values[0]
	}
	if err := Unexpected(SortedKeys(a), known); err != nil {
		return a, err
	}
	return a, checkSizes(a)
}

// Need reads the arguments of a request, and the text of the first, which must be there. null reads as "".
func (c *Call) Need(limit int64, name string, others ...string) (text string, all Args, err error) {
	if all, err = c.Args(limit, append(others, name)...); err == nil {
		text, err = all.Need(name)
	}
	return text, all, err
}

// Unexpected refuses unknown argument names.
func Unexpected(names, known []string) error {
	var extra []string
	for _, name := range names {
		if !Contains(known, name) {
			extra = append(extra, name)
		}
	}
	if extra != nil {
		return BadRequest("Unexpected arguments: %s", strings.Join(extra, ", "))
	}
	return nil
}

// Contains reports whether a list has s.
func Contains(list []string, s string) bool {
	for _, item := range list {
		if item == s {
			return true
		}
	}
	return false
}

// Need is text of an argument that must be there. null reads as "".
func (a Args) Need(name string) (string, error) {
	if _, ok := a[name]; !ok {
		return "", BadRequest("Missing mandatory parameter: %s", name)
	}
	return a.Text(name)
}

// Text is "" for an argument that is absent or null.
func (a Args) Text(name string) (string, error) {
	s, ok := a[name].(string)
	if !ok && a[name] != nil {
		return "", BadRequest("Expected string for %s: %s", name, Python(a[name]))
	}
	return s, nil
}

// Truth is an optional boolean argument.
func (a Args) Truth(name string) (bool, error) {
	if a[name] == nil {
		return false, nil
	}
	return asBool(name, a[name])
}

// NeedTruth is a boolean argument that must be there.
func (a Args) NeedTruth(name string) (bool, error) {
	v, ok := a[name]
	if !ok {
		return false, BadRequest("Missing mandatory parameter: %s", name)
	}
	if v == nil {
		return false, BadRequest("Invalid %s None: it is one of True, False", name)
	}
	return asBool(name, v)
}

// Whole is an optional integer argument.
func (a Args) Whole(name string) (n int, present bool, err error) {
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
	return 0, false, BadRequest("Expected an integer for %s: %s", name, strings.Trim(Python(a[name]), "'"))
}

// List is an optional argument that is a list of objects.
func (a Args) List(name string) ([]map[string]any, error) {
	if a[name] == nil {
		return nil, nil
	}
	items, ok := a[name].([]any)
	if !ok {
		return nil, BadRequest("Expected types <class 'NoneType'>, <class 'list'> for %s: %s", name,
			strings.Trim(Python(a[name]), "'"))
	}
	objects := make([]map[string]any, len(items))
	for i, item := range items {
		if objects[i], ok = item.(map[string]any); !ok {
			return nil, BadRequest("Invalid %s: %s is not of type 'object'", name, Python(item))
		}
	}
	return objects, nil
}

// Object is an optional argument that is an object; nil when it is absent or null.
func (a Args) Object(name string) (map[string]any, error) {
	m, ok := a[name].(map[string]any)
	if !ok && a[name] != nil {
		return nil, BadRequest("Invalid %s: %s is not of type 'object'", name, Python(a[name]))
	}
	return m, nil
}
