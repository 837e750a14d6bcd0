package api

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// templateResource makes the routes of deploy templates.
type templateResource struct{ access }

// routes is the deploy templates: steps that are added to the deploys
// of nodes with a certain trait.
func (h *templateResource) routes() []rest.Route {
	r := &collection[node.DeployTemplate]{
		access: &h.access, path: "deploy_templates", since: 55, noun: "Deploy template", ident: "template_ident",
		fields: templateTable(), brief: []string{"uuid", "name", "links"}, required: []string{"name", "steps"},
		id:   func(t *node.DeployTemplate) string { return t.UUID },
		kept: h.conductor.Catalogs().DeployTemplates,
	}
	return r.routes()
}

// templateTable is every field of a deploy template.
func templateTable() *rest.Table[node.DeployTemplate] {
	type t = node.DeployTemplate
	name := rest.Text("name", 1, both, func(t *t) *string { return &t.Name })
	name.Set = func(t *t, value any) (err error) {
		t.Name, err = asTrait(value)
		return err
	}
	return rest.NewTable("template", []rest.Field[t]{
		rest.UUID("uuid", 1, rest.Creatable, func(t *t) *string { return &t.UUID }),
		rest.Time("created_at", 1, func(t *t) *time.Time { return &t.CreatedAt }),
		rest.Time("updated_at", 1, func(t *t) *time.Time { return t.UpdatedAt }),
		name,
		rest.Object("extra", 1, both, nil, func(t *t) *map[string]any { return &t.Extra }),
		rest.Computed("links", 1, 0, func(dst []byte, v *rest.View[t]) []byte {
			return rest.AppendLinks(dst, v.Base, "deploy_templates/"+v.Of.UUID)
		}),
		stepsField(stepRules{rank: "priority", required: []string{"interface", "step", "args", "priority"}}, templateSteps,
			setTemplateSteps),
	})
}

func templateSteps(t *node.DeployTemplate) []ranked {
	steps := make([]ranked, len(t.Steps))
	for i, s := range t.Steps {
		steps[i] = ranked{s, s.Priority}
	}
	return steps
}

func setTemplateSteps(t *node.DeployTemplate, steps []ranked) {
	t.Steps = make([]node.Step, len(steps))
	for i, s := range steps {
		t.Steps[i] = s.Step
		t.Steps[i].Priority = s.rank
	}
}
