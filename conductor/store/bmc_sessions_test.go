package store_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// TestBMCSessions: a leader finds the sessions of a user at a BMC that earlier leaders of its group have left, and none
// of its own. Without the key they are unreadable.
func TestBMCSessions(t *testing.T) {
	address := postgrestest.URL(t)
	m := openMembers(t, address)
	first := term(t, address, "", take(t, m, "", "a"))
	other := term(t, address, "rack", take(t, m, "rack", "a"))
	const bmc = "https://192.0.2.1"
	left := store.BMCSession{Address: bmc, User: "root", Path: "/sessions/1", Token: "planted-token"}
	ended := store.BMCSession{Address: bmc, User: "root", Path: "/sessions/2", Token: "2"}
	for _, b := range []store.BMCSession{
		left, ended,
		{Address: bmc, User: "admin", Path: "/sessions/3", Token: "3"},
		{Address: "https://192.0.2.2", User: "root", Path: "/sessions/1", Token: "4"},
	} {
		if err := first.PutBMCSession(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.PutBMCSession(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	if err := first.DeleteBMCSession(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	found := func(s *store.Database, want ...store.BMCSession) {
		t.Helper()
		got, err := s.LeftBMCSessions(t.Context(), bmc, "root")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	found(first)
	second := term(t, address, "", take(t, m, "", "b"))
	found(second, left)
	if err := second.ForgetOldBMCSessions(t.Context(), time.Now()); err != nil {
		t.Error(err)
	}
	found(second, left)
	if err := second.ForgetOldBMCSessions(t.Context(), time.Now().Add(8*24*time.Hour)); err != nil {
		t.Error(err)
	}
	found(second)

	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var sealed []byte
	if err := conn.QueryRow(t.Context(), "SELECT sealed FROM bmc_sessions").Scan(&sealed); err != nil ||
		bytes.Contains(sealed, []byte("planted")) {
		t.Errorf("%q, %v", sealed, err)
	}
}
