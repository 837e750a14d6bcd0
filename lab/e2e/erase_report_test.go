package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// signed reads the report of the machine's only erase as an operator does: listed,
// shown, saved, and verified with the conductor's key. One byte of it changed,
// wherever, is noticed.
func (b *bed) signed(ctx context.Context, s *site.Site, m *lab.Machine) error {
	list, err := b.eraseReports(ctx, s, m)
	if err != nil {
		return err
	}
	if len(list) != 1 || list[0].Failed || list[0].Erased != len(toErase) {
		return fmt.Errorf("listed are %+v, expected one of %d disks erased", list, len(toErase))
	}
	shown, err := b.ferrite(ctx, s, "erase-report", "show", list[0].UUID)
	if err != nil {
		return err
	}
	key := filepath.Join(b.dir, "erase-key.pem")
	pem, err := b.ferrite(ctx, s, "erase-report", "key")
	if err != nil {
		return err
	}
	if err := os.WriteFile(key, []byte(pem), 0o644); err != nil {
		return err
	}
	saved := filepath.Join(b.dir, "erase-report.json")
	if err := b.commands(ctx, s, "erase-report save "+list[0].UUID+" "+saved); err != nil {
		return err
	}
	verified, err := b.ferrite(ctx, s, "erase-report", "verify", saved, "--key", key)
	if err != nil {
		return err
	}
	for _, e := range toErase {
		for _, said := range []string{shown, verified} {
			if !saysOf(said, e.device, e.method, "verified: none of") {
				return fmt.Errorf("%s is not said to be erased by %s and verified:\n%s", e.device, e.method, said)
			}
		}
	}
	return b.tampered(ctx, s, saved, key)
}

// saysOf reports whether a device's line in a table has words.
func saysOf(table, device string, words ...string) bool {
	for line := range strings.Lines(table) {
		if !strings.Contains(line, device+" ") {
			continue
		}
		for _, w := range words {
			if !strings.Contains(line, w) {
				return false
			}
		}
		return true
	}
	return false
}

// tampered changes one byte of a saved report: in its readable part, in the signed text, and in the signature.
func (b *bed) tampered(ctx context.Context, s *site.Site, saved, key string) error {
	document, err := os.ReadFile(saved)
	if err != nil {
		return err
	}
	for _, at := range []string{`"serial":"`, `"payload":"`, `"signature":"`} {
		i := strings.Index(string(document), at)
		if i < 0 {
			return fmt.Errorf("the saved report has no %s", at)
		}
		changed := append([]byte{}, document...)
		first := &changed[i+len(at)]
		if *first++; *first > 'z' {
			*first = 'a'
		}
		file := filepath.Join(b.dir, "changed.json")
		if err := os.WriteFile(file, changed, 0o644); err != nil {
			return err
		}
		if _, err := b.ferrite(ctx, s, "erase-report", "verify", file, "--key", key); err == nil {
			return fmt.Errorf("a report with a byte changed in %s is verified", at)
		}
	}
	return nil
}

// cutOff begins another erase and aborts it as soon as the agent is at it. The record shows that its end is unknown.
// The NVMe disk is left out: it formats itself, which an abort would wait for.
func (b *bed) cutOff(ctx context.Context, s *site.Site, m *lab.Machine) error {
	if err := b.commands(ctx, s,
		"node set "+m.Name+` --property skip_block_devices=[{"name":"/dev/nvme0n1"}]`,
		"node clean "+m.Name+" --step deploy.erase_devices"); err != nil {
		return err
	}
	begun := func(st nodeapi.Status) bool { return st.State == "clean wait" && st.Step == "deploy.erase_devices" }
	if err := moment(ctx, s, m.Name, begun); err != nil {
		return fmt.Errorf("abort an erase: %w", err)
	}
	if err := b.commands(ctx, s, "node abort "+m.Name); err != nil {
		return err
	}
	if _, err := s.Until(ctx, m.Name, "clean failed"); err != nil {
		return err
	}
	list, err := b.eraseReports(ctx, s, m)
	if err != nil {
		return err
	}
	if len(list) != 2 || !list[1].Failed || list[1].Erased != 0 {
		return fmt.Errorf("listed are %+v, expected a second one that failed", list)
	}
	saved := filepath.Join(b.dir, "cut-off.json")
	if err := b.commands(ctx, s, "erase-report save "+list[1].UUID+" "+saved); err != nil {
		return err
	}
	switch _, err := b.ferrite(ctx, s, "erase-report", "verify", saved); {
	case err == nil:
		return errors.New("the report of an aborted erase is verified")
	case !strings.Contains(err.Error(), "the end of this erase is unknown: clean aborted by request"):
		return fmt.Errorf("the report of an aborted erase is refused in other words: %w", err)
	}
	return nil
}

// eraseReports lists the reports of a machine, the oldest first.
func (b *bed) eraseReports(ctx context.Context, s *site.Site, m *lab.Machine) (list []nodeapi.EraseSummary, err error) {
	said, err := b.ferrite(ctx, s, "erase-report", "list", m.Name, "-o", "json")
	if err != nil {
		return nil, err
	}
	return list, json.Unmarshal([]byte(said), &list)
}
