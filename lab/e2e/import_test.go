package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/ironic"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// besidePort is the port of our conductor's API, beside Ironic's.
const besidePort = site.APIPort + 1

// importLife: Ironic deploys two machines, our conductor takes them over while they run, Ironic ends, and our conductor
// rebuilds one and undeploys the other. Between the deploys and the rebuild no machine is switched.
func importLife(ctx context.Context, b *bed) (err error) {
	var peer *ironic.Ironic
	start := func(ctx context.Context, l *lab.Lab) (*exec.Cmd, error) {
		peer = ironic.New(l, filepath.Join(b.dir, "ironic"), site.APIPort)
		return peer.Command(ctx)
	}
	specs := []qemu.Spec{machine("metal-1", qemu.UEFI), machine("metal-2", qemu.UEFI)}
	for i := range specs {
		specs[i].MemoryMB = 1024 // Ironic reads whole gigabytes from a BMC, and takes 0 for silence
	}
	s, done, err := b.siteOf(ctx, specs, site.Config{Peer: start})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Conductor.Kill(), done()) }()
	if err := b.deployByIronic(ctx, s, peer); err != nil {
		return err
	}
	before := switched(s)
	ours, err := s.Beside(ctx, besidePort)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.Conductor.Stop()) }()
	if err := b.importAll(ctx, ours, peer, "2 created", "0 refused"); err != nil {
		return err
	}
	if err := b.importAll(ctx, ours, peer, "0 created, 0 changed, 2 unchanged"); err != nil {
		return fmt.Errorf("the same import again: %w", err)
	}
	if err := s.Conductor.Kill(); err != nil {
		return fmt.Errorf("end Ironic: %w", err)
	}
	b.lap("Ironic has ended")
	if err := keptOn(ctx, ours); err != nil {
		return err
	}
	changes := switched(s) - before
	if changes != 0 {
		return fmt.Errorf("the BMCs were asked for %d power changes by the import", changes)
	}
	if err := b.workOn(ctx, ours); err != nil {
		return err
	}
	fmt.Printf("interop-import: ok %d nodes, %d power changes\n", len(s.Machines), changes)
	return nil
}

// deployByIronic takes both machines from enroll to their own OS. Its boot service ends with it.
func (b *bed) deployByIronic(ctx context.Context, s *site.Site, peer *ironic.Ironic) (err error) {
	first := &foreign{bed: b, site: s, ironic: peer}
	stop, err := first.boot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	var work []func() error
	for _, m := range s.Machines {
		f := &foreign{bed: b, site: s, ironic: peer, machine: m}
		i := image(s, b.tiny, b.tiny.Qcow2)
		i.Format = "qcow2"
		work = append(work, func() error {
			if err := install(b.tiny.Raw, m); err != nil {
				return err
			}
			err := f.live(ctx, []stage{
				{"enroll", f.enroll, nil}, {"inspect", f.inspect, nil}, {"clean", f.clean, nil},
				{"deploy", func(ctx context.Context) error { return deploy(ctx, s, m, i, "first", m.Name) }, nil},
			})
			if err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
			return nil
		})
	}
	if err := atOnce(work...); err != nil {
		return err
	}
	b.lap("deployed by Ironic")
	return nil
}

// atOnce does several things, each beside the others, and returns when all have ended.
func atOnce(work ...func() error) error {
	errs := make([]error, len(work))
	var all sync.WaitGroup
	for i, do := range work {
		all.Go(func() { errs[i] = do() })
	}
	all.Wait()
	return errors.Join(errs...)
}

// importAll runs the command as an operator does, and wants its last line to have some words.
func (b *bed) importAll(ctx context.Context, ours *site.Site, peer *ironic.Ironic, words ...string) error {
	cmd := exec.Command(filepath.Join(b.bin, "ferrite"), "import", "ironic", peer.URL(),
		"--ironic-database", "sqlite:///"+filepath.Join(peer.Dir, "ironic.sqlite"), "--request-timeout", "2m")
	cmd.Env = append(cmd.Environ(), ours.Env()...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := ours.Network.Start(cmd); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = errors.Join(ctx.Err(), cmd.Process.Kill(), <-ended)
	}
	if err != nil {
		return fmt.Errorf("import: %w\n%s", err, said.String())
	}
	for _, word := range words {
		if !strings.Contains(said.String(), word) {
			return fmt.Errorf("the import says, without %q:\n%s", word, said.String())
		}
	}
	b.lap("imported")
	return nil
}

// switched is how many power changes the BMCs were asked for so far, and how often machines were started.
func switched(s *site.Site) (n int) {
	for _, m := range s.Machines {
		for call, times := range m.BMC.Counters().Calls {
			if strings.HasPrefix(call, http.MethodPost) && strings.HasSuffix(call, ".Reset") {
				n += times
			}
		}
		n += starts(m)
	}
	return n
}

// keptOn waits until our conductor has read the power of both machines, and wants them as they were.
func keptOn(ctx context.Context, ours *site.Site) error {
	before := map[string]int{}
	for _, m := range ours.Machines {
		before[m.Name] = m.BMC.Counters().Requests
	}
	for _, m := range ours.Machines {
		for m.BMC.Counters().Requests == before[m.Name] {
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s: its power was not read: %w", m.Name, ctx.Err())
			case <-time.After(time.Second):
			}
		}
		n, err := ours.Node(ctx, m.Name)
		if err != nil {
			return err
		}
		if n.ProvisionState != "active" || n.PowerState != "power on" || n.Maintenance {
			return fmt.Errorf("%s is %s, %s, maintenance %v; expected active, power on", m.Name, n.ProvisionState,
				n.PowerState, n.Maintenance)
		}
	}
	return nil
}

// workOn rebuilds the first machine and undeploys the second, by our conductor.
func (b *bed) workOn(ctx context.Context, ours *site.Site) error {
	err := atOnce(
		func() error { return b.rebuild(ctx, ours, ours.Machines[0]) },
		func() error {
			m := ours.Machines[1]
			if _, err := ours.Ask(ctx, m.Name, "deleted", "available"); err != nil {
				return fmt.Errorf("undeploy: %w; the console's last lines:\n%s", err, lastLines(m))
			}
			return bootsNothing(m)
		})
	b.lap("rebuilt and undeployed")
	return err
}

func (b *bed) rebuild(ctx context.Context, ours *site.Site, m *lab.Machine) error {
	i := image(ours, b.other, b.other.Qcow2)
	i.Format = "qcow2"
	if err := ours.SetImage(ctx, m.Name, i); err != nil {
		return err
	}
	ramdisk := starts(m)
	if err := ours.Provision(ctx, m.Name, "rebuild", drive(ours, m.Name)); err != nil {
		return err
	}
	if _, err := ours.Until(ctx, m.Name, "active"); err != nil {
		return fmt.Errorf("rebuild: %w; the console's last lines:\n%s", err, lastLines(m))
	}
	if err := osIsUp(ctx, m, ramdisk); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return nil
}
