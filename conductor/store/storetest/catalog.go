package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// catalog is how a store keeps one kind of named record.
type catalog[T any] struct {
	list         func(context.Context) ([]T, error)
	find         func(context.Context, string) (T, error)
	insert, save func(context.Context, T) (T, error)
	drop         func(context.Context, string) error

	sample func(n int, name string) T // the n-th, with everything set
	change func(v *T)                 // something other than its name
	at     func(v *T, revision int64) // sets the revision
	named  func(v *T, name string)
}

func testDeployTemplates(t *testing.T, s store.Store) {
	testCatalog(t, s, catalog[node.DeployTemplate]{
		s.ListDeployTemplates, s.DeployTemplate, s.InsertDeployTemplate, s.SaveDeployTemplate, s.DeleteDeployTemplate,
		template, func(v *node.DeployTemplate) { v.Steps[0].Priority = 77 },
		func(v *node.DeployTemplate, r int64) { v.Revision = r }, func(v *node.DeployTemplate, name string) { v.Name = name },
	}, "A deploy template with name CUSTOM_A already exists.", "Deploy template nobody could not be found.")
}

func testRunbooks(t *testing.T, s store.Store) {
	sample := func(n int, name string) node.Runbook {
		return node.Runbook{
			UUID: uuid(n), Name: name, Description: "words", Traits: []string{"CUSTOM_X"}, DisableRamdisk: true, Public: true, Owner: "o",
			Steps: []node.RunbookStep{{Step: node.Step{Interface: "bios", Step: "apply", Args: map[string]any{"a": 1.0}}, Order: n}},
			Extra: map[string]any{"k": "v"}, CreatedAt: at(n), UpdatedAt: ptr(at(n + 1).Add(time.Nanosecond)),
		}
	}
	testCatalog(t, s, catalog[node.Runbook]{
		s.ListRunbooks, s.Runbook, s.InsertRunbook, s.SaveRunbook, s.DeleteRunbook,
		sample, func(v *node.Runbook) { v.Steps[0].Order = 77 },
		func(v *node.Runbook, r int64) { v.Revision = r }, func(v *node.Runbook, name string) { v.Name = name },
	}, "A runbook with name CUSTOM_A already exists.", "Runbook nobody could not be found.")
}

func template(n int, name string) node.DeployTemplate {
	return node.DeployTemplate{
		UUID: uuid(n), Name: name, Steps: []node.Step{{Interface: "raid", Step: "apply", Args: map[string]any{"a": []any{1.0}}, Priority: n}},
		Extra: map[string]any{"k": "v"}, CreatedAt: at(n), UpdatedAt: ptr(at(n + 1).Add(time.Nanosecond)),
	}
}

// testCatalog walks through the life of records; taken and missing are what a
// client is told.
func testCatalog[T any](t *testing.T, s store.Store, c catalog[T], taken, missing string) {
	ctx := t.Context()
	b, a := c.sample(2, "CUSTOM_B"), c.sample(1, "CUSTOM_A")
	for _, v := range []*T{&b, &a} {
		c.at(v, 99) // the store's, and ignored
		saved, err := c.insert(ctx, *v)
		check(t, err)
		c.at(v, 1)
		equal(t, *v, saved)
	}
	all, err := c.list(ctx)
	check(t, err)
	equal(t, []T{b, a}, all)
	for _, ref := range []string{uuid(1), "CUSTOM_A"} {
		got, err := c.find(ctx, ref)
		check(t, err)
		equal(t, a, got)
	}

	t.Run("what is kept is a copy", func(t *testing.T) {
		got, err := c.find(ctx, uuid(1))
		check(t, err)
		c.change(&got)
		got, err = c.find(ctx, uuid(1))
		check(t, err)
		equal(t, a, got)
	})
	t.Run("taken", func(t *testing.T) {
		for _, v := range []T{c.sample(3, "CUSTOM_A"), c.sample(1, "CUSTOM_C")} {
			_, err := c.insert(ctx, v)
			wants(t, err, node.ErrConflict)
		}
		v := b
		c.named(&v, "CUSTOM_A")
		_, err := c.save(ctx, v)
		wants(t, err, node.ErrConflict)
		equal(t, taken, err.Error())
	})
	t.Run("save", func(t *testing.T) {
		v := b
		c.change(&v)
		c.named(&v, "CUSTOM_D")
		saved, err := c.save(ctx, v)
		check(t, err)
		_, err = c.save(ctx, v)
		wants(t, err, node.ErrStale)
		c.at(&v, 2)
		equal(t, v, saved)
		all, err := c.list(ctx)
		check(t, err)
		equal(t, []T{v, a}, all)
	})
	t.Run("delete", func(t *testing.T) {
		wants(t, c.drop(ctx, "CUSTOM_A"), node.ErrNotFound) // a name is no UUID
		check(t, c.drop(ctx, uuid(1)))
		wants(t, c.drop(ctx, uuid(1)), node.ErrNotFound)
		_, err := c.save(ctx, a)
		wants(t, err, node.ErrNotFound)
		_, err = c.insert(ctx, c.sample(4, "CUSTOM_A"))
		check(t, err)
	})
	t.Run("missing", func(t *testing.T) {
		for _, ref := range []string{"nobody", uuid(9), ""} {
			_, err := c.find(ctx, ref)
			wants(t, err, node.ErrNotFound)
		}
		_, err := c.find(ctx, "nobody")
		equal(t, missing, err.Error())
	})
}

// testTemplatesByTrait finds the templates of a node's traits.
func testTemplatesByTrait(t *testing.T, s store.Store) {
	for n, name := range []string{"CUSTOM_B", "CUSTOM_A", "CUSTOM_C"} {
		_, err := s.InsertDeployTemplate(t.Context(), template(n, name))
		check(t, err)
	}
	for _, c := range []struct{ traits, want []string }{
		{nil, nil},
		{[]string{}, nil},
		{[]string{"CUSTOM_X", "it's"}, nil},
		{[]string{"CUSTOM_A", "HW_GPU", "CUSTOM_B"}, []string{"CUSTOM_B", "CUSTOM_A"}},
	} {
		got, err := s.DeployTemplates(t.Context(), c.traits)
		check(t, err)
		var names []string
		for _, v := range got {
			names = append(names, v.Name)
		}
		equal(t, c.want, names)
	}
}
