//go:build !nohosts

package serve

import (
	"context"
	"maps"
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/events"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// hosts keeps Metal3's documents, acts on them, and serves them as Kubernetes does.
type hosts struct {
	plain
	Limit int
}

func newHosts() extra { return &hosts{} }

func (h *hosts) settings() map[string]func(*settings) {
	return map[string]func(*settings){"hosts": func(s *settings) {
		s.intVar(&h.Limit, "host-limit", host.DefaultProvisioningLimit,
			"number of busy nodes at which other hosts (BareMetalHost) wait; 0 for no limit",
			atLeast(0, ": say 1 or more, or 0 for any number"))
	}}
}

// join has hosts reconciled where documents are this conductor's, and works with the leaders of other groups.
func (h *hosts) join(ctx context.Context, w *work, p parts) error {
	documents, err := objects.New(ctx, objects.Config{Store: p.db, Key: p.keys.Secrets, Witness: w.events, Now: w.now})
	if err != nil {
		return err
	}
	ramdisks, err := w.conf.deployImages()
	if err != nil {
		return err
	}
	eventLog, groups := events.New(w.now), newGroupHosts(p.others, w)
	all := reconciler.New(reconciler.Config{Documents: documents, Log: w.log, ProvisioningLimit: h.Limit,
		RecordEvents: eventLog.Add, Groups: groups.groups(), Now: w.now, DeployImages: ramdisks})
	w.imageAdded = append(w.imageAdded, all.ImageAdded)
	w.made = append(w.made, func(e *engine.Engine) { e.ListenLast(groups.listener(all)) })
	w.takenUp = append(w.takenUp, func() {
		w.between = groups.begin(ctx, &w.kept, w.engine, all)
		if w.first {
			w.kept.Go(func() {
				w.engine.AwaitResume(ctx) // hosts act, too
				all.Run(ctx, w.engine)
			})
		}
	})
	w.served = append(w.served, func(o *api.Options) {
		conf := kube.Options{Keeper: documents, Events: eventLog, Log: w.log, Stopping: ctx, Ready: p.ready,
			Streams: p.streams, Now: w.engine.Now,
			Memory: func(r *http.Request) kube.Memory { return w.face.Memory(r) }} // the API counts the memory of all answers
		if p.who != nil { // a nil pointer in an interface would not be nil
			conf.Auth = p.who
		}
		o.Hosts = all
		maps.Copy(o.Mounts, kube.New(conf).Handlers())
	})
	// The first report is of a new leader: all its hosts are looked at at once.
	if groups != nil && groups.notifier != nil {
		w.reachable = append(w.reachable, groups.notifier.Run)
	}
	return nil
}

// deployImages are the ramdisks that PreprovisioningImages may name: the conductor's own, which is one of x86_64.
func (c Config) deployImages() ([]reconciler.DeployImage, error) {
	if !c.Boot || c.Kernel == "" {
		return nil, nil
	}
	addr, _, err := c.subnet()
	if err != nil {
		return nil, err
	}
	at := c.bootURL(addr) + ramdiskPrefix
	return []reconciler.DeployImage{{Format: hostapi.FormatInitrd, Architecture: "x86_64", URL: at + initrdFile,
		KernelURL: at + kernelFile, Params: c.KernelAppend}}, nil
}
