package kube

import (
	"fmt"
	"slices"
	"strings"
)

// listKeys are the lists of Secrets and Namespaces that a strategic merge patch does not
// replace but merge, and the key that distinguishes their elements: "" for lists of words.
func listKeys() map[string]string {
	return map[string]string{"metadata.finalizers": "", "metadata.ownerReferences": "uid", "metadata.managedFields": ""}
}

// strategic merges a patch into a document, in Kubernetes' manner for its own
// kinds: null removes, objects are merged, some lists too, and keys that begin
// with "$" direct it.
func strategic(into, patch map[string]any, path string) error {
	switch directive := patch["$patch"]; directive {
	case nil, "merge":
	case "replace", "delete":
		clear(into)
		if directive == "delete" {
			return nil
		}
	default:
		return badRequest("%s: the directive $patch: %v is not known; expected merge, replace or delete", path, directive)
	}
	if keys, ok := patch["$retainKeys"].([]any); ok {
		for k := range into {
			if !slices.Contains(keys, any(k)) {
				delete(into, k)
			}
		}
	}
	for k, v := range patch {
		at := strings.TrimPrefix(path+"."+k, ".")
		if strings.HasPrefix(k, "$") {
			if name, ok := strings.CutPrefix(k, "$deleteFromPrimitiveList/"); ok {
				into[name] = without(into[name], v)
			}
			continue
		}
		if err := mergeInto(into, k, v, at); err != nil {
			return err
		}
	}
	return nil
}

// mergeInto sets one field.
func mergeInto(into map[string]any, k string, v any, path string) error {
	switch v := v.(type) {
	case nil:
		delete(into, k)
	case map[string]any:
		was, ok := into[k].(map[string]any)
		if !ok {
			was = map[string]any{}
		}
		if err := strategic(was, v, path); err != nil {
			return err
		}
		if v["$patch"] == "delete" {
			delete(into, k)
		} else {
			into[k] = was
		}
	case []any:
		key, merges := listKeys()[path]
		if !merges {
			into[k] = v
			return nil
		}
		was, _ := into[k].([]any)
		merged, err := mergeList(was, v, key, path)
		into[k] = merged
		return err
	default:
		into[k] = v
	}
	return nil
}

// mergeList adds missing elements to a list, and merges the others.
func mergeList(was, patch []any, key, path string) ([]any, error) {
	for _, p := range patch {
		if key == "" {
			if !has(was, p) {
				was = append(was, p)
			}
			continue
		}
		element, ok := p.(map[string]any)
		if !ok {
			return nil, badRequest("%s: expected objects", path)
		}
		if element["$patch"] == "replace" && len(element) == 1 {
			was = nil
			continue
		}
		if element[key] == nil {
			return nil, badRequest("%s: an element has no %s, which distinguishes elements", path, key)
		}
		at := slices.IndexFunc(was, func(w any) bool {
			m, ok := w.(map[string]any)
			return ok && fmt.Sprint(m[key]) == fmt.Sprint(element[key])
		})
		switch {
		case element["$patch"] == "delete":
			if at >= 0 {
				was = slices.Delete(was, at, at+1)
			}
		case at < 0:
			was = append(was, element)
		default:
			old, _ := was[at].(map[string]any)
			if err := strategic(old, element, path); err != nil {
				return nil, err
			}
		}
	}
	return was, nil
}

// has and without compare elements as printed text: a body that is not validated yet may have elements of any kind.
func has(list []any, v any) bool {
	return slices.ContainsFunc(list, func(w any) bool { return fmt.Sprint(w) == fmt.Sprint(v) })
}

func without(list, gone any) any {
	was, _ := list.([]any)
	drop, _ := gone.([]any)
	return slices.DeleteFunc(was, func(w any) bool { return has(drop, w) })
}
