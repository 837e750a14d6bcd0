package serve

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/conductor/boot/bootmedia"
	"github.com/ferrite-metal/ferrite/conductor/boot/bootpolicy"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/outbound"
	"github.com/ferrite-metal/ferrite/conductor/server/metrics"
	"github.com/ferrite-metal/ferrite/images/bootiso"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// proof is what ramdisks must show: the one-time word of their boot where boot
// scripts are ours, and a leased address where only our DHCP gives any.
func (c Config) proof(key []byte) engine.Proof {
	return engine.Proof{Words: c.Boot, Leases: c.Boot && !c.OtherDHCP, Key: key}
}

// listenBoot opens the boot service; nil without --boot.
func (c Config) listenBoot(ctx context.Context, eng *engine.Engine, images *imagesource.Sources, p parts,
	dialled *outbound.Policy, counters *metrics.Metrics, log *slog.Logger) (*bootserver.Server, error) {
	if !c.Boot {
		return nil, nil
	}
	addr, subnets, err := c.subnets()
	if err != nil {
		return nil, err
	}
	url := c.AdvertiseURL
	if url == "" {
		_, port, err := net.SplitHostPort(p.api.String())
		if err != nil {
			return nil, err
		}
		url = c.scheme() + net.JoinHostPort(addr.String(), port)
	}
	policy := &bootpolicy.Policy{Engine: eng, Log: log, Kernel: c.Kernel, Initrd: c.Initrd, APIURL: url,
		Append: c.KernelAppend, Local: c.FilePaths, Images: images}
	if p.cert != nil {
		policy.Pins = p.cert.Pins
	}
	media := c.media(eng, policy, addr, dialled, p.keys.Secrets, log)
	eng.Media = media
	return bootserver.Listen(ctx, bootserver.Config{
		Interface: c.BootInterface, Address: addr, Subnets: subnets, LoaderDir: c.LoaderDir,
		Booter: policy, Leases: policy, DHCP: bootserver.DHCPMode(c.DHCP), Foreign: c.OtherDHCP, Log: log,
		Now:      eng.Now,
		Recorder: bootCounter{counters}, Proxies: c.proxies,
		Extra: map[string]http.Handler{imagesource.Prefix: images.Handler(eng.Node, log), bootmedia.Prefix: media},
	})
}

// media serves the images of virtual drives, with the boot service.
func (c Config) media(eng *engine.Engine, policy *bootpolicy.Policy, at netip.Addr, servers *outbound.Policy,
	key []byte, log *slog.Logger) *bootmedia.Server {
	loaders := c.MediaLoaders
	if loaders == "" {
		loaders = filepath.Join(filepath.Dir(c.Kernel), bootiso.Folder)
	}
	url := c.MediaURL
	if url == "" {
		url = "http://" + netip.AddrPortFrom(at, bootserver.DefaultHTTPPort).String()
	}
	return bootmedia.New(bootmedia.Config{Conductor: eng, Content: policy.Medium, URL: url, Loaders: loaders, Key: key,
		Client: servers.Client(), Log: log})
}
