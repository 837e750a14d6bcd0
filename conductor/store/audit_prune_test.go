package store_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// TestAuditRefusesDeletes: the database refuses changes of the audit, and deletes of rows that no entry names as
// pruned.
func TestAuditRefusesDeletes(t *testing.T) {
	for driver, open := range map[string]func(t *testing.T) (*store.Database, string, error){
		"sqlite": func(t *testing.T) (*store.Database, string, error) {
			file := t.TempDir() + "/ferrite.db"
			s, err := store.Open(t.Context(), file, store.Options{})
			return s, file, err
		},
		"pgx": func(t *testing.T) (*store.Database, string, error) {
			url := postgrestest.URL(t)
			s, err := store.OpenPostgres(t.Context(), url, store.PostgresOptions{})
			return s, url, err
		},
	} {
		t.Run(driver, func(t *testing.T) {
			s, address, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			at := time.UnixMicro(1_700_000_000_000_000)
			for i, doc := range []string{"{}", "{}", "{}", `{"pruned":[{"hash":"h1"}]}`} {
				if err := s.AppendAudit(t.Context(), []node.AuditEntry{{At: at, Writer: "w", Chain: "a", Number: int64(i + 1),
					Hash: "h" + string(rune('1'+i)), Doc: []byte(doc)}}); err != nil {
					t.Fatal(err)
				}
			}
			db, err := sql.Open(driver, address)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, text := range []string{
				"UPDATE audit SET doc = ''",
				"DELETE FROM audit",
				"DELETE FROM audit WHERE number = 1",
				"UPDATE audit_writers SET cut = 2, number = 2, hash = 'h2', chain = 'a', stub = 4", // entry 4 names another hash
				"UPDATE audit_writers SET cut = 1, number = 1, hash = 'h1', chain = 'a', stub = 3", // entry 3 names none
				"UPDATE audit_writers SET cut = 4, number = 4, hash = 'h1', chain = 'a', stub = 4", // which would go, too
				"INSERT INTO audit_writers (writer, entries, bytes, cut, hash, stub) VALUES ('v', 0, 0, 9, 'x', 10)",
			} {
				if _, err := db.ExecContext(t.Context(), text); err == nil || !strings.Contains(err.Error(), "audit") {
					t.Errorf("%s: %v", text, err)
				}
			}
			cut := []node.AuditCut{{Writer: "w", ID: 1, Chain: "a", Number: 1, Hash: "h1"}}
			if err := s.CutAudit(t.Context(), "a", 4, cut); err != nil {
				t.Fatal(err)
			}
			for text, refused := range map[string]bool{
				"DELETE FROM audit WHERE number = 2":  true,
				"UPDATE audit_writers SET cut = 0":    true,
				"DELETE FROM audit_writers":           true,
				"DELETE FROM audit WHERE number <= 1": false,
			} {
				if _, err := db.ExecContext(t.Context(), text); (err != nil) != refused {
					t.Errorf("%s: %v, want it refused: %v", text, err, refused)
				}
			}
		})
	}
}
