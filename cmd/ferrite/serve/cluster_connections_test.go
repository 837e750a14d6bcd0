package serve

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// mostConnections is the limit that the documents promise for a room.
const mostConnections = 32

// watchConnections counts the connections of conductors until end, and returns the most that there were.
func watchConnections(t *testing.T, database string) (end func() int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	most := make(chan int)
	go func() {
		largest := 0
		for ctx.Err() == nil {
			var n int
			err := conn.QueryRow(t.Context(),
				"SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'ferrite%'").Scan(&n)
			if err != nil {
				t.Error(err)
				break
			}
			largest = max(largest, n)
			time.Sleep(5 * time.Millisecond)
		}
		most <- largest
	}()
	return func() int {
		cancel()
		largest := <-most
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
		return largest
	}
}

// TestConnectionsOfARoom: three conductors, two groups, and a takeover have 32 connections at most, however much is
// asked of them.
func TestConnectionsOfARoom(t *testing.T) {
	t.Parallel()
	server := postgrestest.New(t)
	database, key := server.URL(t), clusterKey(t, "0123456789")
	end := watchConnections(t, database)
	var all []*conductor
	for _, args := range [][]string{{"a"}, {"b"}, {"c", "--group", "rack"}} {
		c := startMember(t, args[0], database, key, args[1:]...)
		ready(t, c)
		all = append(all, c)
	}
	first := all[0].Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware"}, http.StatusCreated)
	second := all[0].Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "conductor_group": "rack"},
		http.StatusCreated)
	ask := func(members []*conductor) {
		var busy sync.WaitGroup
		for i := range 60 {
			id, _ := []any{first["uuid"], second["uuid"]}[i%2].(string)
			busy.Go(func() {
				_, _, _ = members[i%len(members)].Send(http.MethodPatch, "/v1/nodes/"+id,
					[]map[string]any{{"op": "add", "path": "/extra/a", "value": i}}) // some conflict
				_, _, _ = members[i%len(members)].Send(http.MethodGet, "/v1/nodes?limit=1", nil)
			})
		}
		busy.Wait()
	}
	ask(all)
	all[0].Stop()
	ask(all[1:])
	ready(t, all[1])
	ask(all[1:])
	for _, c := range all {
		c.End(t)
	}
	if most := end(); most > mostConnections || most < 20 {
		t.Errorf("%d connections at a time, expected 20 to %d", most, mostConnections)
	} else {
		t.Logf("%d connections at a time", most)
	}
}
