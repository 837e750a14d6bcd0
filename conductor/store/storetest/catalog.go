package storetest

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// sampler makes records to try a catalog with.
type sampler[T any] struct {
	sample func(n int, name string) T // the n-th, with everything set
	change func(v *T)                 // something other than its name
	named  func(v *T, name string)
}

func testDeployTemplates(t *testing.T, s store.Store) {
	testCatalog(t, s.Catalogs().DeployTemplates, sampler[node.DeployTemplate]{
		template, func(v *node.DeployTemplate) { v.Steps[0].Priority = 77 },
		func(v *node.DeployTemplate, name string) { v.Name = name },
	}, "A deploy template with name CUSTOM_A already exists.", "Deploy template nobody could not be found.")
}

func testRunbooks(t *testing.T, s store.Store) {
	sample := func(n int, name string) node.Runbook {
		return node.Runbook{
			Record: record(n), Name: name, Description: "words", Traits: []string{"CUSTOM_X"}, DisableRamdisk: true,
			Public: true, Owner: "o",
			Steps: []node.RunbookStep{{Step: node.Step{Interface: "bios", Step: "apply",
				Args: map[string]any{"a": 1.0}}, Order: n}},
			Extra: map[string]any{"k": "v"},
		}
	}
	testCatalog(t, s.Catalogs().Runbooks, sampler[node.Runbook]{
		sample, func(v *node.Runbook) { v.Steps[0].Order = 77 }, func(v *node.Runbook, name string) { v.Name = name },
	}, "A runbook with name CUSTOM_A already exists.", "Runbook nobody could not be found.")
}

// testInspectionRules is about records without a name, which are found by a column that many of them share.
func testInspectionRules(t *testing.T, s store.Store) {
	ctx, c := t.Context(), s.Catalogs().InspectionRules
	sample := func(n int, phase string) node.InspectionRule {
		return node.InspectionRule{
			Record: record(n), Description: "words", Priority: n, Phase: phase, Sensitive: true,
			Conditions: []node.Clause{{Op: "!eq", Args: []any{[]any{1.0, "a"}}, Loop: []any{true}, Multiple: "last"}},
			Actions:    []node.Clause{{Op: "log", Args: map[string]any{"msg": "x"}, Loop: map[string]any{"a": nil}}},
		}
	}
	all := []node.InspectionRule{sample(3, "main"), sample(1, "main"), sample(2, "other")}
	for i := range all {
		saved, err := c.Insert(ctx, all[i])
		check(t, err)
		all[i].Revision = 1
		equal(t, all[i], saved)
	}
	got, err := c.List(ctx, "phase", "main")
	check(t, err)
	equal(t, all[:2], got)
	got, err = c.List(ctx, "")
	check(t, err)
	equal(t, all, got)
	_, err = c.Find(ctx, "main")
	wants(t, err, node.ErrNotFound)
	_, err = c.Insert(ctx, sample(1, "main"))
	wants(t, err, node.ErrConflict)
	all[0].Phase = "other"
	_, err = c.Save(ctx, all[0])
	check(t, err)
	_, err = c.Save(ctx, all[0])
	wants(t, err, node.ErrStale)
	got, err = c.List(ctx, "phase", "main")
	check(t, err)
	equal(t, all[1:2], got)
	check(t, c.Delete(ctx, uuid(1)))
	wants(t, c.Delete(ctx, uuid(1)), node.ErrNotFound)
}

// record is the common part of the n-th.
func record(n int) node.Record {
	return node.Record{UUID: uuid(n), CreatedAt: at(n), UpdatedAt: ptr(at(n + 1).Add(time.Nanosecond))}
}

func template(n int, name string) node.DeployTemplate {
	return node.DeployTemplate{
		Record: record(n), Name: name, Extra: map[string]any{"k": "v"},
		Steps: []node.Step{{Interface: "raid", Step: "apply", Args: map[string]any{"a": []any{1.0}}, Priority: n}},
	}
}

// testMadeAgain: a record that was read is not written over a new record of its UUID, even at the same revision.
func testMadeAgain[T any, P node.Recorded[T]](t *testing.T, c node.Catalog[T], of sampler[T]) {
	ctx := t.Context()
	old, err := c.Insert(ctx, of.sample(5, "CUSTOM_E"))
	check(t, err)
	check(t, c.Delete(ctx, uuid(5)))
	again := old
	P(&again).Head().CreatedAt = P(&old).Head().CreatedAt.Add(time.Millisecond)
	again, err = c.Insert(ctx, again)
	check(t, err)
	_, err = c.Save(ctx, old)
	wants(t, err, node.ErrStale)
	got, err := c.Find(ctx, uuid(5))
	check(t, err)
	equal(t, again, got)
	check(t, c.Delete(ctx, uuid(5)))
}

// testCatalog walks through the life of records; taken and missing are error texts for the
// client.
func testCatalog[T any, P node.Recorded[T]](t *testing.T, c node.Catalog[T], of sampler[T], taken, missing string) {
	ctx := t.Context()
	b, a := of.sample(2, "CUSTOM_B"), of.sample(1, "CUSTOM_A")
	for _, v := range []*T{&b, &a} {
		P(v).Head().Revision = 99 // the store's, and ignored
		saved, err := c.Insert(ctx, *v)
		check(t, err)
		P(v).Head().Revision = 1
		equal(t, *v, saved)
	}
	all, err := c.List(ctx, "")
	check(t, err)
	equal(t, []T{b, a}, all)
	for _, ref := range []string{uuid(1), "CUSTOM_A"} {
		got, err := c.Find(ctx, ref)
		check(t, err)
		equal(t, a, got)
	}

	t.Run("what is kept is a copy", func(t *testing.T) {
		got, err := c.Find(ctx, uuid(1))
		check(t, err)
		of.change(&got)
		got, err = c.Find(ctx, uuid(1))
		check(t, err)
		equal(t, a, got)
	})
	t.Run("taken", func(t *testing.T) {
		for _, v := range []T{of.sample(3, "CUSTOM_A"), of.sample(1, "CUSTOM_C")} {
			_, err := c.Insert(ctx, v)
			wants(t, err, node.ErrConflict)
		}
		v := b
		of.named(&v, "CUSTOM_A")
		_, err := c.Save(ctx, v)
		wants(t, err, node.ErrConflict)
		equal(t, taken, err.Error())
	})
	t.Run("save", func(t *testing.T) {
		v := b
		of.change(&v)
		of.named(&v, "CUSTOM_D")
		saved, err := c.Save(ctx, v)
		check(t, err)
		_, err = c.Save(ctx, v)
		wants(t, err, node.ErrStale)
		P(&v).Head().Revision = 2
		equal(t, v, saved)
		all, err := c.List(ctx, "")
		check(t, err)
		equal(t, []T{v, a}, all)
	})
	t.Run("made again under its UUID", func(t *testing.T) { testMadeAgain[T, P](t, c, of) })
	t.Run("delete", func(t *testing.T) {
		wants(t, c.Delete(ctx, "CUSTOM_A"), node.ErrNotFound) // a name is no UUID
		check(t, c.Delete(ctx, uuid(1)))
		wants(t, c.Delete(ctx, uuid(1)), node.ErrNotFound)
		_, err := c.Save(ctx, a)
		wants(t, err, node.ErrNotFound)
		_, err = c.Insert(ctx, of.sample(4, "CUSTOM_A"))
		check(t, err)
	})
	t.Run("missing", func(t *testing.T) {
		for _, ref := range []string{"nobody", uuid(9), ""} {
			_, err := c.Find(ctx, ref)
			wants(t, err, node.ErrNotFound)
		}
		_, err := c.Find(ctx, "nobody")
		equal(t, missing, err.Error())
	})
}

// testTemplatesByTrait finds the templates of a node's traits.
func testTemplatesByTrait(t *testing.T, s store.Store) {
	for n, name := range []string{"CUSTOM_B", "CUSTOM_A", "CUSTOM_C"} {
		_, err := s.Catalogs().DeployTemplates.Insert(t.Context(), template(n, name))
		check(t, err)
	}
	for _, c := range []struct{ traits, want []string }{
		{nil, nil},
		{[]string{}, nil},
		{[]string{"CUSTOM_X", "it's"}, nil},
		{[]string{"CUSTOM_A", "HW_GPU", "CUSTOM_B"}, []string{"CUSTOM_B", "CUSTOM_A"}},
	} {
		got, err := s.Catalogs().DeployTemplates.List(t.Context(), "name", c.traits...)
		check(t, err)
		var names []string
		for _, v := range got {
			names = append(names, v.Name)
		}
		equal(t, c.want, names)
	}
}
