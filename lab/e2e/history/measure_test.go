//go:build cluster

package history

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

// roomConnections is how many connections to the database a room has at most.
const roomConnections = 32

// longest is how long a takeover may take: 10 s, also beside two busy loops on two processors. On a machine that is
// asked for more than that it takes longer in proportion.
func (w *world) longest() time.Duration {
	w.t.Helper()
	return suitetest.Stretch(w.t, 10*time.Second)
}

// countConnections counts the connections of all conductors until the end.
func (w *world) countConnections() {
	for !w.stop.Load() { // PostgreSQL restarts
		conn, err := pgx.Connect(context.Background(), w.database)
		for err == nil && !w.stop.Load() {
			var n int
			err = conn.QueryRow(context.Background(),
				"SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'ferrite%'").Scan(&n)
			w.most = max(w.most, n)
			time.Sleep(20 * time.Millisecond)
		}
		if conn != nil {
			_ = conn.Close(context.Background()) // it may be gone
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// keepFigures writes the figures for the documents.
func (w *world) keepFigures() {
	w.t.Helper()
	figures := map[string]figure{}
	for kind, seconds := range w.figures {
		figures[kind] = figureOf(seconds)
	}
	raw, err := json.MarshalIndent(figures, "", "  ")
	if err == nil {
		err = os.WriteFile(figuresFile, append(raw, '\n'), 0o644) //nolint:gosec // for all
	}
	if err != nil {
		w.t.Error(err)
	}
}

// checkSessions counts the sessions that conductors have left at BMCs, when all have ended. A killed or frozen leader
// leaves the sessions of logins under way: it has not noted them yet. If the next leader did not end the others, each
// trouble would leave one session at each BMC.
func (w *world) checkSessions() {
	w.t.Helper()
	left := 0
	for _, p := range w.powered {
		left += p.machine.bmc.Counters().Sessions
	}
	if most := 2 + *troubles/4; left > most {
		w.t.Errorf("%d sessions are left at BMCs, expected %d at most", left, most)
	}
	w.t.Logf("%d sessions are left at %d BMCs", left, len(w.powered))
}

func figureOf(seconds []float64) figure {
	slices.Sort(seconds)
	return figure{len(seconds), seconds[len(seconds)/2], seconds[len(seconds)-1]}
}
