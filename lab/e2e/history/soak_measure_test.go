//go:build cluster

package history

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// growth is how much more a conductor may need at the end, as a part.
const growth = 0.10

// slack is how many rows, files, goroutines or descriptors more are chance: each of a dozen lives under way has some.
const slack = 20

// figuresOfProgram are the figures of a conductor that are compared, by their names in /metrics. The heap grows until
// it is collected: of it the least counts.
var figuresOfProgram = map[string]string{
	"process_resident_memory_bytes": "memory", "go_memstats_heap_alloc_bytes": "heap", "go_goroutines": "goroutines",
	"process_open_fds": "descriptors",
}

// grower is a table that grows with the lives that have been.
type grower struct {
	rate  float64 // rows that one life adds at most
	bound string
}

// byDesign are the tables that grow with the lives that have been.
var byDesign = map[string]grower{
	"audit":  {30, "--audit-keep, which keeps all by default"},
	"events": {60, "--events-keep, 100,000 rows, and --events-age"},
}

// judged is the shortest soak with meaningful figures: in a shorter one, figures that rise only once may still be
// rising.
const judged = 30 * time.Minute

// series are samples of each figure.
type series map[string][]float64

// measured are the samples of two windows: after a sixth of the soak, and at its end.
type measured struct{ windows [2]series }

// measure samples the measured conductor, while it leads, and the database until the end.
func (s *soaking) measure() *measured {
	m := &measured{windows: [2]series{{}, {}}}
	s.busy.Go(func() {
		for !s.stop.Load() {
			time.Sleep(min(5*time.Second, *soak/200))
			at := time.Since(s.began)
			switch {
			case at > sixth()*6/10 && at < sixth():
				s.sample(m.windows[0])
			case at > *soak-sixth()*4/10:
				s.sample(m.windows[1])
			}
		}
	})
	return m
}

// sample adds one sample while the measured conductor leads. A sample that fails is left out: there are many.
func (s *soaking) sample(into series) {
	rows, err := s.rows()
	if err != nil || rows == nil {
		return
	}
	answer, err := s.http.Get("http://" + s.measured.Address + "/metrics")
	if err != nil {
		return
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if short := figuresOfProgram[name]; short != "" {
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				into[short] = append(into[short], v)
			}
		}
	}
	for table, count := range rows {
		into[table] = append(into[table], count)
	}
	into["files"] = append(into["files"], float64(s.files()))
}

// files counts the files in the measured conductor's folder.
func (s *soaking) files() (count int) {
	at := slices.Index(s.measured.Args, "--data-dir")
	_ = filepath.WalkDir(s.measured.Args[at+1], func(string, fs.DirEntry, error) error {
		count++ // some go while they are counted
		return nil
	})
	return count
}

// rows counts the rows of every table, nil while the measured conductor does not lead.
func (s *soaking) rows() (map[string]float64, error) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.database)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }() // it has answered
	leads := "SELECT EXISTS (SELECT FROM leader WHERE holder = $1 AND until > clock_timestamp())"
	var ours bool
	if err := conn.QueryRow(ctx, leads, s.measured.Name).Scan(&ours); err != nil || !ours {
		return nil, err
	}
	found, err := conn.Query(ctx, "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()")
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(found, pgx.RowTo[string])
	counts := map[string]float64{}
	for _, name := range names {
		var n int64
		if err == nil {
			err = conn.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier{name}.Sanitize()).Scan(&n)
		}
		counts["table "+name] = float64(n)
	}
	return counts, err
}

// figureAt is the value that stands for the samples of a figure.
func figureAt(name string, samples []float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	slices.Sort(samples)
	if name == "heap" {
		return samples[0]
	}
	return samples[len(samples)/2]
}

// compare fails the test for each figure that has grown, and returns how much more memory there is.
func (m *measured) compare(t *testing.T, lives int64) (memory float64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(m.windows[1])) {
		was, is := figureAt(name, m.windows[0][name]), figureAt(name, m.windows[1][name])
		if name == "memory" {
			memory = is / max(was, 1)
		}
		most, unit := was*(1+growth), ""
		if table, ok := strings.CutPrefix(name, "table "); ok && byDesign[table].rate > 0 {
			most = was + byDesign[table].rate*float64(lives)
			unit = fmt.Sprintf(", %.1f rows a life; bound: %s", (is-was)/float64(lives), byDesign[table].bound)
		} else if name != "memory" && name != "heap" {
			most += slack
		}
		t.Logf("%-28s %12.0f %12.0f  x %.2f%s", name, was, is, is/max(was, 1), unit)
		if is > most && *soak >= judged {
			t.Errorf("%s: %.0f after a sixth of the soak, %.0f at its end, expected %.0f at most", name, was, is, most)
		}
	}
	for i, w := range m.windows {
		if len(w["memory"]) == 0 {
			t.Errorf("window %d of the measurement is empty: the conductor never led in it", i)
		}
	}
	return memory
}

// ofNodes are the tables with rows that end with their node.
var ofNodes = []string{"nodes", "ports", "effects", "history", "told", "sights", "inspected", "erase_reports"}

// checkEmpty checks that nothing is left of nodes that are deleted.
func (s *soaking) checkEmpty() {
	s.t.Helper()
	var nodes struct{ Nodes []shown }
	if _, err := s.ask("", http.MethodGet, "/v1/nodes", nil, &nodes); err != nil || len(nodes.Nodes) > 0 {
		s.t.Errorf("expected no nodes at the end, found %d, %v", len(nodes.Nodes), err)
	}
	rows, err := s.rows()
	if err != nil || rows == nil {
		s.t.Errorf("%s leads no longer at the end, %v", s.measured.Name, err)
	}
	for _, name := range ofNodes {
		if rows["table "+name] > 0 {
			s.t.Errorf("table %s: %.0f rows are left of nodes that were deleted", name, rows["table "+name])
		}
	}
}
