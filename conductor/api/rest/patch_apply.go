package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// applyAll carries operations out in order, each on the result of the one before. Its texts are the texts of
// github.com/evanphx/json-patch, which cannot report the operation that it refused.
func applyAll(doc []byte, ops []Operation) (patched map[string]any, err error) {
	var own []Operation // later operations change the values of earlier ones, and the patch may be tried again
	raw, err := json.Marshal(ops)
	if err := errors.Join(err, json.Unmarshal(raw, &own), json.Unmarshal(doc, &patched)); err != nil {
		return nil, fmt.Errorf("a patch and its document: %w", err)
	}
	for _, o := range own {
		if _, err := o.apply(patched, strings.Split(o.Path[1:], "/")); err != nil {
			return nil, BadRequest("Couldn't apply patch '%.400s'. Reason: %.400v", Python(o.Raw), err)
		}
	}
	return patched, nil
}

// unescape undoes the escapes of RFC 6901, section 4.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// apply carries an operation out at a path below in, and returns the new value of in.
func (o Operation) apply(in any, path []string) (any, error) {
	key, last := unescape.Replace(path[0]), len(path) == 1
	switch in := in.(type) {
	case map[string]any:
		was, has := in[key]
		switch {
		case !last:
			next, err := o.apply(was, path[1:])
			in[key] = next
			return in, err
		case o.Op == "remove" && !has:
			return in, fmt.Errorf("error in remove for path: '%s': unable to remove nonexistent key: %s: missing value",
				o.Path, key)
		case o.Op == "replace" && !has:
			return in, o.missing("key: " + o.Path)
		case o.Op == "remove":
			delete(in, key)
		default:
			in[key] = o.Raw["value"]
		}
		return in, nil
	case []any:
		if last {
			return o.applyIn(in, key)
		}
		if i, err := index(key, len(in)); err == nil {
			in[i], err = o.apply(in[i], path[1:])
			return in, err
		}
	}
	if o.Op == "replace" {
		return in, o.missing("path: " + o.Path)
	}
	return in, o.missing("path: " + strconv.Quote(o.Path))
}

func (o Operation) missing(what string) error {
	return fmt.Errorf("%s operation does not apply: doc is missing %s: missing value", o.Op, what)
}

// applyIn carries an operation out on an element of a list, and returns the list.
func (o Operation) applyIn(in []any, key string) ([]any, error) {
	places := len(in)
	if o.Op == "add" {
		places++
		if key == "-" {
			key = strconv.Itoa(len(in))
		}
	}
	i, err := index(key, places)
	switch {
	case err != nil && o.Op == "replace":
		return in, o.missing("key: " + o.Path)
	case o.Op == "add" && errors.As(err, new(*strconv.NumError)):
		err = fmt.Errorf("value was not a proper array index: '%s': %w", key, err)
	case err == nil && places > nodeapi.MaxField: // more than a field can hold, and each operation moves them all
		err = fmt.Errorf("the list has %d elements, the limit is %d", len(in), nodeapi.MaxField)
	}
	switch {
	case err != nil:
		return in, fmt.Errorf("error in %s for path: '%s': %w", o.Op, o.Path, err)
	case o.Op == "add":
		return slices.Insert(in, i, o.Raw["value"]), nil
	case o.Op == "remove":
		return slices.Delete(in, i, i+1), nil
	}
	in[i] = o.Raw["value"]
	return in, nil
}

// index is the place in a list of n that a word of a path names; negative ones count from its end.
func index(key string, n int) (int, error) {
	i, err := strconv.Atoi(key)
	if err == nil && (i >= n || i < -n) {
		err = fmt.Errorf("Unable to access invalid index: %d: invalid index referenced", i) //nolint:staticcheck // as it was
	}
	if i < 0 {
		i += n
	}
	return i, err
}
