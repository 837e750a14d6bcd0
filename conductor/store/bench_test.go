package store_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/conductor/store/storetest"
)

// BenchmarkCycle is an engine's day: 64 workers claim an effect each, read its
// node, save it with the next effect, a line of history and an event, with every flush
// reaching the disk. One op is one cycle; "cycles/s" is the figure to watch.
func BenchmarkCycle(b *testing.B) {
	for _, nodes := range []int{200, 2000} {
		b.Run(fmt.Sprintf("%d-nodes", nodes), func(b *testing.B) {
			cycles(b, open(b, b.TempDir(), store.Options{}), nodes, nil)
		})
	}
}

// BenchmarkCyclePostgres is the same with a server on this machine, which flushes nothing: its share is its own work,
// and the way there.
func BenchmarkCyclePostgres(b *testing.B) {
	server := postgrestest.New(b)
	s := openPostgres(b, server.URL(b), store.PostgresOptions{})
	cycles(b, s, 2000, server.ProcessorTime)
}

// BenchmarkWritesPostgres is the cost of a write that changes next to nothing, by so many at a time as there are
// connections: beginning it, its fence, and its end.
func BenchmarkWritesPostgres(b *testing.B) {
	server := postgrestest.New(b)
	s := openPostgres(b, server.URL(b), store.PostgresOptions{})
	if err := s.SaveLease(b.Context(), node.Lease{MAC: "m", IP: "i"}); err != nil {
		b.Fatal(err)
	}
	for _, lanes := range []int{1, 4, 16} {
		b.Run(fmt.Sprint(lanes), func(b *testing.B) {
			began, ended := processorTime(b), serverTime(b, server.ProcessorTime)
			var left atomic.Int64
			left.Store(int64(b.N))
			var all sync.WaitGroup
			for range lanes {
				all.Go(func() {
					for left.Add(-1) >= 0 {
						if err := s.EndLease(b.Context(), node.Lease{MAC: "none"}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
			b.ReportMetric(float64((processorTime(b)-began).Microseconds())/float64(b.N), "cpu-µs/write")
			ended()
		})
	}
}

// serverTime begins to measure a server. ended reports its processor time for each operation.
func serverTime(b *testing.B, server func() (time.Duration, error)) (ended func()) {
	b.Helper()
	if server == nil {
		return func() {}
	}
	used := func() time.Duration {
		d, err := server()
		if err != nil {
			b.Fatal(err)
		}
		return d
	}
	before := used()
	return func() { b.ReportMetric(float64((used()-before).Microseconds())/float64(b.N), "server-µs/op") }
}

// cycles reports the time of a server, too, where there is one.
func cycles(b *testing.B, s *store.Database, nodes int, server func() (time.Duration, error)) {
	b.Helper()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for range nodes {
		fill(b, s, now)
	}
	const workers = 64
	var left atomic.Int64
	left.Store(int64(b.N))
	queue := make(chan node.Effect, workers)
	var wg sync.WaitGroup
	b.ResetTimer()
	began, ended := processorTime(b), serverTime(b, server)
	for range workers {
		wg.Go(func() {
			for e := range queue {
				if err := cycle(b, s, &e, now); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for left.Load() > 0 {
		got, err := storetest.Claim(b.Context(), s, "bench", now, time.Minute, int(min(workers, left.Load())))
		if err != nil {
			b.Fatal(err)
		}
		left.Add(-int64(len(got)))
		for _, e := range got {
			queue <- e
		}
	}
	close(queue)
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
	b.ReportMetric(float64((processorTime(b)-began).Microseconds())/float64(b.N), "cpu-µs/cycle")
	ended()
}

// processorTime is the processor time of this process. Other work on the machine hardly changes it.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func cycle(b *testing.B, s *store.Database, e *node.Effect, now time.Time) error {
	n, err := s.Node(b.Context(), e.Node)
	if err != nil {
		return err
	}
	n.Run.Index++
	_, err = s.Commit(b.Context(), node.Change{
		Finish: e, Save: &n,
		Effects: []node.Effect{{Node: n.UUID, Generation: 1, Name: "power_on", RunAt: now}},
		History: []node.HistoryEntry{{UUID: uuid.NewString(), NodeUUID: n.UUID, CreatedAt: now, Severity: "INFO",
			Event: "power on"}},
		Events: []node.ChangeEvent{{At: now, Type: "node.power", Node: n.UUID, Doc: json.RawMessage(benchEvent)}},
	})
	return err
}

// benchEvent is as long as most events are.
const benchEvent = `{"type":"node.power","at":"2026-11-20T12:00:00Z","conductor":"cp1","node":{"uuid":` +
	`"b4a63d2e-1a0f-4a5e-9a48-5a4bb5d5f0aa","name":"node-b4a63d2e","revision":12,"provision_state":"cleaning",` +
	`"target_provision_state":"available","power_state":"power on","maintenance":false,"driver":"redfish",` +
	`"step":"power.power_on"},"changed":["power_state","run"],"power_change":{"from":"power off","to":"power on"},` +
	`"notes":[{"severity":"INFO","activity":"clean","text":"power on"}]}`

func fill(b *testing.B, s *store.Database, now time.Time) string {
	id := uuid.NewString()
	n := node.Node{
		UUID: id, Name: "node-" + id, Driver: "redfish", ProvisionState: node.Cleaning, TargetProvisionState: node.Available,
		CreatedAt: now,
		DriverInfo: map[string]any{"redfish_address": "https://bmc-" + id, "redfish_username": "admin",
			"redfish_password": "secret"},
		Interfaces: map[string]string{"power": "redfish", "management": "redfish", "boot": "ipxe", "deploy": "direct"},
		Run: &node.Run{Activity: "clean", Steps: []node.Step{{Interface: "power", Step: "power_off"},
			{Interface: "deploy", Step: "erase_devices_metadata", InBand: true}}},
	}
	_, err := s.Commit(b.Context(),
		node.Change{Insert: &n, Effects: []node.Effect{{Node: id, Name: "power_on", RunAt: now}}})
	if err != nil {
		b.Fatal(err)
	}
	return id
}

// BenchmarkNode is a point read while nothing else happens.
func BenchmarkNode(b *testing.B) {
	s := open(b, b.TempDir(), store.Options{})
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var ids []string
	for range 1000 {
		ids = append(ids, fill(b, s, now))
	}
	i := 0
	for b.Loop() {
		if _, err := s.Node(b.Context(), ids[i%len(ids)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkOpen measures the time to open the database at a start of the conductor: first a new database, then an
// existing one.
func BenchmarkOpen(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			reopen(b, b.TempDir())
		}
	})
	b.Run("old", func(b *testing.B) {
		dir := b.TempDir()
		for b.Loop() {
			reopen(b, dir)
		}
	})
}

func reopen(b *testing.B, dir string) {
	s, err := store.Open(b.Context(), dir+"/ferrite.db", store.Options{Keys: ringOf(b, 1)})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
