package api

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan/rules"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// inspectionRules is the collection of inspection rules: conditions on inspection data, and actions.
type inspectionRules struct {
	collection[node.InspectionRule]
}

// inspectionRuleResource makes the routes of inspection rules.
type inspectionRuleResource struct{ access }

func (h *inspectionRuleResource) routes() []rest.Route {
	r := &inspectionRules{collection[node.InspectionRule]{
		access: &h.access, path: "inspection_rules", since: 96, noun: "Inspection rule", ident: "inspection_rule_uuid",
		fields: inspectionRuleTable(), brief: []string{"uuid", "description", "phase", "priority", "links"},
		required: []string{"actions"},
		id:       func(r *node.InspectionRule) string { return r.UUID },
		filters:  phaseFilter,
		created: func(_ *rest.Call, r *node.InspectionRule) error {
			r.Phase = rest.Or(r.Phase, node.MainPhase)
			return nil
		},
		kept: h.conductor.Catalogs().InspectionRules,
	}}
	rows := r.routes()
	for i := range rows {
		if rows[i].Method == http.MethodDelete && rows[i].Path == "/v1/inspection_rules" {
			rows[i].Doc, rows[i].Handle = "forget every inspection rule", r.dropAll
		}
	}
	return rows
}

// inspectionRuleTable is every field of an inspection rule.
func inspectionRuleTable() *rest.Table[node.InspectionRule] {
	type r = node.InspectionRule
	phase := rest.Sized("phase", 1, both, 16, func(r *r) *string { return &r.Phase })
	phase.Set = func(r *r, value any) error {
		s, err := rest.ReadText(value, 16)
		r.Phase = rest.Or(s, node.MainPhase)
		return err
	}
	return rest.NewTable("inspection_rule", []rest.Field[r]{
		rest.UUID("uuid", 1, rest.Creatable, func(r *r) *string { return &r.UUID }),
		rest.Time("created_at", 1, func(r *r) *time.Time { return &r.CreatedAt }),
		rest.Time("updated_at", 1, func(r *r) *time.Time { return r.UpdatedAt }),
		rest.Text("description", 1, both, func(r *r) *string { return &r.Description }),
		rest.Number("priority", 1, both, func(r *r) *int { return &r.Priority }),
		sensitiveField(),
		phase,
		clausesField("conditions", conditionsOf, func(r *r) *[]node.Clause { return &r.Conditions }),
		clausesField("actions", rules.Actions, func(r *r) *[]node.Clause { return &r.Actions }),
		rest.Computed("links", 1, 0, func(dst []byte, v *rest.View[r]) []byte {
			return rest.AppendLinks(dst, v.Base, "inspection_rules/"+v.Of.UUID)
		}),
	})
}

// sensitiveField can be set but not unset, so that a rule's hidden arguments stay hidden.
func sensitiveField() rest.Field[node.InspectionRule] {
	f := rest.StrictFlag(rest.Flag("sensitive", 1, both, false, func(r *node.InspectionRule) *bool {
		return &r.Sensitive
	}))
	set := f.Set
	f.Set = func(r *node.InspectionRule, value any) error {
		if r.Sensitive && value != true {
			return rest.BadRequest("Couldn't apply patch. Reason: Inspection rules cannot have the sensitive flag unset.")
		}
		return set(r, value)
	}
	return f
}

// clausesField is the conditions or the actions, which a sensitive rule does not
// show. parse reads new ones.
func clausesField(name string, parse func(any) ([]node.Clause, error),
	at func(*node.InspectionRule) *[]node.Clause) rest.Field[node.InspectionRule] {
	type r = node.InspectionRule
	f := rest.Field[r]{Name: name, Since: 1, Use: both, Form: clausesForm(name)}
	f.Show = func(dst []byte, v *rest.View[r]) []byte {
		if v.Of.Sensitive {
			return append(dst, "null"...)
		}
		return rest.AppendAny(dst, clauseList(*at(v.Of), maskedClause))
	}
	f.Get = func(of *r) any { return clauseList(*at(of), func(v any) any { return v }) }
	f.Set = func(of *r, value any) error {
		clauses, err := parse(value)
		if err != nil {
			return &rest.SchemaError{Text: err.Error()}
		}
		*at(of) = clauses
		return nil
	}
	return f
}

// conditionsOf takes null for none: a patch may remove them.
func conditionsOf(value any) ([]node.Clause, error) {
	if value == nil {
		return nil, nil
	}
	return rules.Conditions(value)
}

// clausesForm is the schema of them. A sensitive rule shows null.
func clausesForm(name string) rest.Schema {
	listOrObject := rest.Schema{"type": []string{"array", "object"}}
	clause := rest.Schema{"type": "object", "required": []string{"op", "args"}, "properties": rest.Schema{
		"op": rest.Schema{"type": "string"}, "args": listOrObject, "loop": listOrObject,
	}}
	if name == "conditions" {
		clause["properties"].(rest.Schema)["multiple"] = rest.Schema{"enum": []string{"any", "all", "first", "last"}}
	}
	return rest.Schema{"type": []string{"array", "null"}, "items": clause}
}

// clauseList is clauses as JSON; mask hides secrets in arguments and loops.
func clauseList(clauses []node.Clause, mask func(any) any) []any {
	list := make([]any, len(clauses))
	for i, c := range clauses {
		m := map[string]any{"op": c.Op, "args": mask(c.Args)}
		if c.Loop != nil {
			m["loop"] = mask(c.Loop)
		}
		if c.Multiple != "" {
			m["multiple"] = c.Multiple
		}
		list[i] = m
	}
	return list
}

// maskedClause hides secrets in a rule that is not sensitive: values with a secret's name, and values to be written to
// a secret's path.
func maskedClause(v any) any {
	switch v := nodeapi.MaskValue(v).(type) {
	case map[string]any:
		if path, _ := v["path"].(string); secretPath(path) && v["value"] != nil {
			v = maps.Clone(v)
			v["value"] = nodeapi.Masked
		}
		return v
	case []any:
		v = slices.Clone(v)
		for i := range v {
			path := ""
			if i > 0 {
				path, _ = v[i-1].(string)
			}
			if v[i] = maskedClause(v[i]); secretPath(path) {
				v[i] = nodeapi.Masked
			}
		}
		return v
	default:
		return v
	}
}

// secretPath reports whether a path, with slashes or dots, leads to a secret.
func secretPath(path string) bool {
	return strings.ContainsAny(path, "/.") && nodeapi.Secret(path[strings.LastIndexAny(path, "/.")+1:])
}

// phaseFilter is ?phase=.
func phaseFilter(*rest.Call) []rest.Filter[narrowing[node.InspectionRule]] {
	return []rest.Filter[narrowing[node.InspectionRule]]{
		{Name: "phase", Since: 96, Apply: func(n *narrowing[node.InspectionRule], phase string) error {
			n.column, n.values = "phase", []string{phase}
			return nil
		}},
	}
}

// dropAll deletes every rule. A rule that is made meanwhile stays.
func (r *inspectionRules) dropAll(c *rest.Call) error {
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), nil); err != nil {
		return err
	}
	ctx := c.Request().Context()
	all, err := r.kept.List(ctx, "")
	if err != nil {
		return err
	}
	for i := range all {
		if err := r.kept.Delete(ctx, all[i].UUID); err != nil && !errors.Is(err, node.ErrNotFound) {
			return err
		}
	}
	return c.Empty(http.StatusNoContent)
}
