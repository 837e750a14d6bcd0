package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/largesite"
)

// largePages is a page of a hundred by each filter and by the usual sort keys;
// the last ones begin in the middle.
func largePages() []string {
	middle := "&marker=" + largesite.UUID(largesite.Nodes/2)
	return []string{
		"", "provision_state=active", "provision_state=available", "driver=redfish", "driver=ipmi",
		"resource_class=baremetal.general", "resource_class=baremetal.gpu", "owner=project-3", "owner=project-rare",
		"conductor_group=far", "instance_uuid=" + largesite.Instance(largesite.Nodes-1), "associated=true",
		"associated=false",
		"maintenance=true", "maintenance=false", "fault=power%20failure", "fault=clean%20failure", "retired=true",
		"shard=shard-4,shard-7", "sharded=false", "sort_key=name", "sort_key=uuid", "sort_key=created_at",
		"sort_key=updated_at&sort_dir=desc", "detail=True", middle, "driver=redfish" + middle, "sort_key=name" + middle,
	}
}

// benchLarge measures a conductor with the nodes of a large site: how soon it
// answers, how long the slowest page of a hundred takes, and its memory.
func (s *shared) benchLarge(ctx context.Context) error {
	start := time.Now()
	err := s.conductor(ctx, func(dir string) error {
		err := fillLarge(ctx, filepath.Join(dir, "ferrite.db"))
		start = time.Now()
		return err
	}, func(address string, pid int) error {
		ready := time.Since(start)
		slowest, page := time.Duration(0), ""
		for _, p := range largePages() {
			took, err := pageTime(ctx, newCaller("http://"+address), "/v1/nodes?limit=100&"+p)
			if err != nil {
				return err
			}
			if took > slowest {
				slowest, page = took, p
			}
		}
		mib, err := residentMiB(pid)
		fmt.Printf("bench: %d nodes: ready in %.2f s, slowest page of 100 (of %d kinds, each the median of 9) %.1f ms "+
			"(?%s), %.1f MiB resident\n",
			largesite.Nodes, ready.Seconds(), len(largePages()), slowest.Seconds()*1e3, page, mib)
		return err
	})
	if err != nil {
		return fmt.Errorf("large site: %w", err)
	}
	return nil
}

func fillLarge(ctx context.Context, path string) error {
	key, err := keys.OpenSecrets(filepath.Dir(path))
	if err != nil {
		return err
	}
	ring, err := seal.NewRing(key)
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, path, store.Options{NoSync: true, Keys: ring})
	if err != nil {
		return err
	}
	return errors.Join(largesite.Fill(ctx, db), db.Close())
}

// pageTime is the median of nine.
func pageTime(ctx context.Context, c *caller, path string) (time.Duration, error) {
	var took []time.Duration
	for range 9 {
		start := time.Now()
		status, answer, err := c.once(ctx, "GET", path, nil)
		if err != nil {
			return 0, err
		}
		if status != 200 {
			return 0, fmt.Errorf("GET %s: status %d: %.300s", path, status, answer)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
