package core

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Trail gathers the changes of a request, for the audit. It is safe for concurrent use.
type Trail struct {
	mu      sync.Mutex
	node    string
	name    string
	changes []nodeapi.AuditChange
	more    int // that are not in changes
}

type trailKey struct{}

// WithTrail attaches a trail to ctx. The trail records the changes that are made with ctx.
func WithTrail(ctx context.Context) (context.Context, *Trail) {
	t := &Trail{}
	return context.WithValue(ctx, trailKey{}, t), t
}

// Changes is the node that was changed, if any was, and the changes.
func (t *Trail) Changes() (uuid, name string, changes []nodeapi.AuditChange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	changes = slices.Clone(t.changes)
	if t.more > 0 {
		changes = append(changes, nodeapi.AuditChange{Field: fmt.Sprintf("%d more", t.more)})
	}
	return t.node, t.name, changes
}

// The bounds of a trail: changes, and bytes of a value. All fields of one value fit an entry (AuditEntry.Bound).
const (
	maxChanges = 64
	maxValue   = 400
)

// unaudited are parts of the record, beside fields, that no operator writes: of the conductor's own work.
var unaudited = map[string]bool{"run": true, "agent": true, "child": true, "chore": true, "deadline": true}

// trace notes a change that was committed with ctx.
func trace(ctx context.Context, c *node.Committed) {
	t, ok := ctx.Value(trailKey{}).(*Trail)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case c.Insert != nil:
		t.node, t.name = c.Saved.UUID, c.Saved.Name
		t.fields(&node.Node{}, c.Insert)
	case c.Save != nil && c.Was != nil:
		t.node, t.name = c.Saved.UUID, c.Saved.Name
		t.fields(c.Was, c.Save)
	case c.Delete != "":
		t.node = c.Delete
		if c.Was != nil {
			t.name = c.Was.Name
		}
	case c.Save != nil:
		t.node, t.name = c.Saved.UUID, c.Saved.Name
	}
	ports := portChanges(c.Change)
	for _, id := range slices.Sorted(maps.Keys(ports)) {
		t.add("port "+id, "", ports[id])
	}
	if r := c.Record; r != nil {
		t.add(r.Kind+" "+r.UUID, "", r.Written+" "+r.Name)
	}
}

func (t *Trail) add(field, old, now string) {
	if len(t.changes) == maxChanges {
		t.more++
		return
	}
	t.changes = append(t.changes, nodeapi.AuditChange{Field: field, Old: old, New: now})
}

// fields notes the fields of a node that differ; maps are compared key by key. Single fields such as the owner come
// first, and extra comes last: a caller cannot hide a change behind many keys of its own.
func (t *Trail) fields(was, is *node.Node) {
	var found []nodeapi.AuditChange
	defer func() {
		slices.SortStableFunc(found, func(a, b nodeapi.AuditChange) int { return rank(a.Field) - rank(b.Field) })
		for _, c := range found {
			t.add(c.Field, c.Old, c.New)
		}
	}()
	note := func(field, old, now string) {
		found = append(found, nodeapi.AuditChange{Field: field, Old: old, New: now})
	}
	a, b := reflect.ValueOf(was).Elem(), reflect.ValueOf(is).Elem()
	for _, f := range nodeFields {
		old, now := a.Field(f.index).Interface(), b.Field(f.index).Interface()
		row := node.FieldNamed(f.name)
		if unaudited[f.name] || row != nil && row.Is(node.Unaudited) || reflect.DeepEqual(old, now) {
			continue
		}
		oldMap, isMap := old.(map[string]any)
		nowMap, _ := now.(map[string]any)
		if !isMap {
			note(f.name, short(old), short(now))
			continue
		}
		shown := nodeapi.Mask
		if row != nil && row.Mask != nil {
			shown = row.Mask
		}
		oldShown, nowShown := shown(oldMap), shown(nowMap)
		keys := maps.Clone(oldMap)
		if keys == nil {
			keys = map[string]any{}
		}
		maps.Copy(keys, nowMap)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if !reflect.DeepEqual(oldMap[key], nowMap[key]) {
				note(f.name+"/"+key, short(oldShown[key]), short(nowShown[key]))
			}
		}
	}
}

// rank is the place of a field among the changes.
func rank(field string) int {
	name, _, part := strings.Cut(field, "/")
	switch {
	case !part:
		return 0
	case name != "extra":
		return 1
	}
	return 2
}

// short is a value as JSON, cut off; "" for none.
func short(value any) string {
	raw, err := json.Marshal(value)
	text := string(raw)
	if err != nil || text == "null" || text == `""` || text == "false" {
		return ""
	}
	text = nodeapi.MaskText(text)
	if len(text) > maxValue {
		text = strings.ToValidUTF8(text[:maxValue], "") + "..."
	}
	return text
}
