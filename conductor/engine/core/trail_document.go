package core

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// untracedParts are parts of documents that the conductor writes by itself, or that repeat others.
var untracedParts = map[string]bool{"metadata/resourceVersion": true, "metadata/generation": true, "metadata/uid": true,
	"metadata/creationTimestamp": true, "metadata/managedFields": true, "kind": true, "apiVersion": true,
	"metadata/name": true, "metadata/namespace": true,
	"metadata/annotations/kubectl.kubernetes.io/last-applied-configuration": true}

// TraceDocument notes a document that was written with ctx. was is nil for a new document, is for a deleted one. Values
// below a hidden part are not shown. name is its kind, namespace and name.
func TraceDocument(ctx context.Context, name string, was, is map[string]any, hidden ...string) {
	t, ok := ctx.Value(trailKey{}).(*Trail)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := ""
	switch {
	case t.name == "":
		t.name = name
	case t.name != name: // changed with another document, or one of many
		before = name + ": "
	}
	if is == nil {
		if before != "" {
			t.add(name, "", "deleted")
		}
		return
	}
	t.parts(before, "", was, is, hidden)
}

// parts notes the parts that differ. It descends through objects to the other values.
func (t *Trail) parts(before, path string, was, is map[string]any, hidden []string) {
	keys := maps.Clone(was)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, is)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		at, old, now := path+key, was[key], is[key]
		if untracedParts[at] || reflect.DeepEqual(old, now) {
			continue
		}
		oldMap, oldIs := old.(map[string]any)
		nowMap, nowIs := now.(map[string]any)
		if (oldIs || old == nil) && (nowIs || now == nil) {
			t.parts(before, at+"/", oldMap, nowMap, hidden)
			continue
		}
		if slices.ContainsFunc(hidden, func(h string) bool { return strings.HasPrefix(at, h+"/") }) {
			old, now = masked(old), masked(now)
		}
		if shown, is := short(old), short(now); shown != "" || is != "" {
			t.add(before+at, shown, is)
		}
	}
}

// masked replaces a secret by asterisks; nil stays nil.
func masked(value any) any {
	if value == nil {
		return nil
	}
	return "******"
}
