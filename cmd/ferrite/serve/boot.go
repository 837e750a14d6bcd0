package serve

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/conductor/boot/bootmedia"
	"github.com/ferrite-metal/ferrite/conductor/boot/bootpolicy"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/outbound"
	"github.com/ferrite-metal/ferrite/images/bootiso"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// ramdiskAuth is the evidence that ramdisks must show: the one-time token of their boot where this conductor serves
// boot scripts, and a leased address where its DHCP server is the only one.
func (c Config) ramdiskAuth(key []byte) engine.RamdiskAuth {
	return engine.RamdiskAuth{Words: c.Boot, Leases: c.Boot && !c.OtherDHCP, Key: key, AnyAtRest: c.LookupAtRest}
}

// openBoot opens the boot service, with --boot.
func (w *work) openBoot(ctx context.Context, p parts) error {
	c, eng := w.conf, w.engine
	if !c.Boot {
		return nil
	}
	addr, subnets, err := c.subnets()
	if err != nil {
		return err
	}
	url, err := c.ramdiskURL(p.agentsAt, addr)
	if err != nil {
		return err
	}
	byArch, err := c.ramdisksByArch()
	if err != nil {
		return err
	}
	policy := &bootpolicy.Policy{Engine: eng, Log: w.log, Kernel: c.Kernel, Initrd: c.Initrd, ByArch: byArch, APIURL: url,
		Append: c.KernelAppend, Local: c.FilePaths, Images: w.sources}
	if p.cert != nil {
		policy.Pins = p.cert.Pins
	}
	media := c.media(eng, policy, addr, w.dialled.registries, p.keys.Secrets, w.log)
	eng.Media = media
	w.boot, err = bootserver.Listen(ctx, bootserver.Config{
		Interface: c.BootInterface, Address: addr, Subnets: subnets, LoaderDir: c.LoaderDir,
		Booter: policy, Leases: policy, DHCP: bootserver.DHCPMode(c.DHCP), Foreign: c.OtherDHCP, Log: w.log,
		Now:      eng.Now,
		Recorder: bootCounter{w.counters}, Proxies: c.proxies,
		Extra: map[string]http.Handler{imagesource.Prefix: w.sources.Handler(eng.Node, w.log), bootmedia.Prefix: media,
			ramdiskPrefix: c.ramdiskFiles()},
	})
	return err
}

// media serves the images of virtual drives, with the boot service.
func (c Config) media(eng *engine.Engine, policy *bootpolicy.Policy, at netip.Addr, servers *outbound.Policy,
	key []byte, log *slog.Logger) *bootmedia.Server {
	loaders := c.MediaLoaders
	if loaders == "" {
		loaders = filepath.Join(filepath.Dir(c.Kernel), bootiso.Folder)
	}
	return bootmedia.New(bootmedia.Config{Conductor: eng, Content: policy.Medium, Settings: policy.MediumSettings,
		URL: c.bootURL(at), Loaders: loaders, Key: key, Client: servers.Client(), Log: log})
}

// bootURL is the URL of boot HTTP, for machines and their BMCs.
func (c Config) bootURL(at netip.Addr) string {
	return cmp.Or(c.MediaURL, "http://"+netip.AddrPortFrom(at, bootserver.DefaultHTTPPort).String())
}
