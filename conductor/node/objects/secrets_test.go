package objects_test

import (
	"bytes"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

func credentials() hostapi.Secret {
	return hostapi.Secret{
		ObjectMeta: hostapi.ObjectMeta{
			Name: "bmc", Namespace: "metal3", Annotations: map[string]string{"applied": "hunter2"},
		},
		Data: map[string][]byte{"username": []byte("admin")}, StringData: map[string]string{"password": "hunter2"},
	}
}

// rows returns the store's rows of Secrets.
func rows(t *testing.T, s *mem.Store) []objects.Row {
	t.Helper()
	all, _, err := s.Objects(t.Context(), objects.Query{Kind: hostapi.KindSecret})
	check(t, err)
	return all
}

// TestSecrets are nowhere in the store in clear, and read as they were written.
func TestSecrets(t *testing.T) {
	s := mem.New()
	k := keeper(t, s, nil)
	made, err := objects.Create(t.Context(), k, credentials())
	check(t, err)
	if made.Type != "Opaque" || made.StringData != nil || string(made.Data["password"]) != "hunter2" {
		t.Errorf("%+v", made)
	}
	for _, r := range rows(t, s) {
		for _, word := range []string{"hunter2", "admin", "password", "aHVudGVyMg"} {
			if bytes.Contains(r.Doc, []byte(word)) {
				t.Errorf("%q is in the store in clear", word)
			}
		}
	}
	got, err := objects.Get[hostapi.Secret](t.Context(), k, "metal3", "bmc")
	check(t, err)
	equal(t, made, got)
	yes := true
	got.Immutable = &yes
	got, err = objects.Update(t.Context(), k, got)
	check(t, err)
	first := rows(t, s)[0]
	got.Labels = map[string]string{"a": "b"}
	_, err = objects.Update(t.Context(), k, got)
	check(t, err)
	if bytes.Equal(first.Doc[12:24], rows(t, s)[0].Doc[12:24]) { // behind the envelope's head
		t.Error("two writes have one nonce")
	}
}

// TestLostKey: a Secret that was sealed with another key is still listed, with the reason. A label does not empty it,
// and it can be written anew or deleted.
func TestLostKey(t *testing.T) {
	s := mem.New()
	before := keeper(t, s, nil)
	_, err := objects.Create(t.Context(), before, credentials())
	check(t, err)
	k := keeper(t, s, func(c *objects.Config) { c.Key = bytes.Repeat([]byte{1}, 32) })
	all, _, err := objects.List[hostapi.Secret](t.Context(), k, "")
	check(t, err)
	if len(all) != 1 || len(all[0].Data) != 0 || all[0].Annotations[objects.AnnotationUnreadable] == "" ||
		all[0].Name != "bmc" {
		t.Fatalf("%+v", all)
	}
	labelled := all[0]
	labelled.Labels = map[string]string{"a": "b"}
	_, err = objects.Update(t.Context(), k, labelled)
	refused(t, err, objects.ErrForbidden, "restore the key")
	if still, err := objects.Get[hostapi.Secret](t.Context(), before, "metal3", "bmc"); err != nil ||
		len(still.Data) != 2 {
		t.Errorf("with its own key: %+v, %v", still, err)
	}
	labelled.Data = map[string][]byte{"password": []byte("new")}
	anew, err := objects.Update(t.Context(), k, labelled)
	if err != nil || anew.Annotations[objects.AnnotationUnreadable] != "" || string(anew.Data["password"]) != "new" {
		t.Errorf("%+v, %v", anew, err)
	}
	if _, gone, err := objects.Delete[hostapi.Secret](t.Context(), before, "metal3", "bmc",
		objects.DeleteOptions{}); err != nil || !gone {
		t.Error(gone, err)
	}
}

// TestBound: a sealed row put in another's place is not believed.
func TestBound(t *testing.T) {
	s := mem.New()
	k := keeper(t, s, nil)
	mine := credentials()
	_, err := objects.Create(t.Context(), k, mine)
	check(t, err)
	mine.Name = "other"
	_, err = objects.Create(t.Context(), k, mine)
	check(t, err)
	all := rows(t, s)
	w := objects.Write{Row: all[0], Expect: all[0].Revision}
	w.Doc = all[1].Doc
	check(t, s.WriteObjects(t.Context(), []objects.Write{w}, func([]int64) {}))
	got, err := objects.Get[hostapi.Secret](t.Context(), k, "metal3", "bmc")
	if err != nil || len(got.Data) != 0 {
		t.Errorf("another's secret is shown: %+v, %v", got, err)
	}
}

func TestKeySize(t *testing.T) {
	if _, err := objects.New(t.Context(), objects.Config{Store: mem.New(), Key: make([]byte, 16)}); err == nil {
		t.Error("a key of 16 bytes was taken")
	}
}
