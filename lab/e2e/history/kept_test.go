//go:build cluster

package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// kept is all that a run which failed leaves behind: the members' logs, the record and the status of each node that
// went wrong as they were then, and the rows of the database at the end.
type kept struct {
	mu     sync.Mutex
	folder string
}

// keptTables are the tables with rows on a node's history.
var keptTables = []string{"nodes", "effects", "history", "events", "leader"}

// write writes one file. The folder is made with the first.
func (k *kept) write(name string, text []byte) (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.folder == "" {
		if k.folder, err = os.MkdirTemp("", "cluster-test-"); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(k.folder, name), text, 0o600)
}

// keepNode keeps a node's record, history and status, and the calls and the ledger of its agent.
func (w *world) keepNode(id string) {
	for name, path := range map[string]string{"record": "", "history": "/history?detail=True", "status": "/status"} {
		var got json.RawMessage
		prefix := "/v1/nodes/"
		if name == "status" {
			prefix = "/ferrite/v1/nodes/"
		}
		if _, err := w.ask("", http.MethodGet, prefix+id+path, nil, &got); err != nil {
			got = []byte(err.Error())
		}
		if err := w.kept.write(id+"-"+name+".json", got); err != nil {
			w.t.Error(err)
		}
	}
	i := slices.IndexFunc(w.cleaned, func(c *cleaned) bool { return c.node == id })
	if i < 0 {
		return
	}
	ledger := fmt.Sprintf("%s\n%+v\n", strings.Join(w.cleaned[i].agent.Calls(), "\n"), w.cleaned[i].agent.Ledger())
	if err := w.kept.write(id+"-agent.txt", []byte(ledger)); err != nil {
		w.t.Error(err)
	}
}

// keep keeps logs and rows of a run that failed.
func (w *world) keep() {
	if !w.t.Failed() || w.client == nil {
		return
	}
	var all error
	for _, m := range w.members {
		text, err := os.ReadFile(m.Log)
		all = errors.Join(all, err, w.kept.write(m.Name+".log", text))
	}
	conn, err := pgx.Connect(context.Background(), w.database)
	if err != nil {
		w.t.Error(errors.Join(all, err))
		return
	}
	for _, table := range keptTables {
		rows, err := conn.Query(context.Background(), "SELECT row_to_json(t)::text FROM "+table+" t")
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		var text []byte
		for _, line := range lines {
			text = append(append(text, line...), '\n')
		}
		all = errors.Join(all, err, w.kept.write(table+".json", text))
	}
	if err := errors.Join(all, conn.Close(context.Background())); err != nil {
		w.t.Error(err)
	}
	w.t.Logf("the members' logs and the rows of the database are in %s", w.kept.folder)
}
