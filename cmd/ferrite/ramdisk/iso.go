package ramdisk

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/images/bootiso"
	"github.com/ferrite-metal/ferrite/images/iso"
	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// isoOptions are the flags of `ferrite ramdisk iso`.
type isoOptions struct {
	kernel, initrd, loaders, out string
	api, mac, network, extra     string
	pins                         []string
	discover                     bool
}

func isoCommand() *cobra.Command {
	var o isoOptions
	c := &cobra.Command{
		Use:   "iso",
		Short: "Make an ISO image that boots a ramdisk from a USB stick or a CD",
		Long: "Makes an ISO image with a kernel and a ramdisk, for machines that cannot boot from the network. It\n" +
			"boots by BIOS and by UEFI (without Secure Boot), from a CD, a virtual drive or a USB stick:\n\n" +
			"  dd if=ferrite.iso of=/dev/sdX bs=4M oflag=sync\n\n" +
			"The image has no one-time token of a boot. A conductor that answers boot scripts (--boot) accepts such a\n" +
			"machine by discovery alone: use --discover. For a machine with a BMC set the node's boot_interface to\n" +
			"redfish-virtual-media instead: the conductor then makes an image for each boot.",
		Example: "  ferrite ramdisk iso --kernel ramdisk/metal.vmlinuz --initrd ramdisk/metal.initramfs \\\n" +
			"    --api-url http://192.0.2.1:6385 --discover --out ferrite.iso",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			size, err := o.make(cmd.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\t%.1f MB\n", o.out, mb(size))
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&o.kernel, "kernel", "", "`file` of the kernel, made by: ferrite ramdisk build")
	f.StringVar(&o.initrd, "initrd", "", "`file` of the ramdisk")
	f.StringVar(&o.api, "api-url", "", "`URL` by which the machine reaches the conductor's API")
	f.StringVar(&o.out, "out", "ferrite.iso", "`file` to write")
	f.StringVar(&o.loaders, "loaders", "", "`folder` of the boot loaders (default: loaders, beside the kernel)")
	f.StringVar(&o.mac, "bootif", "", "`MAC` address of the card that the machine uses first")
	f.StringVar(&o.network, "network-data", "",
		"`file` with network_data in JSON, for a machine without DHCP (default: DHCP on every card)")
	f.StringSliceVar(&o.pins, "api-sha256", nil, "SHA-256 `sum` in hex of the API's certificate, for https without an authority")
	f.BoolVar(&o.discover, "discover", false, "inspect the machine and enroll it (conductor: --discovery)")
	f.StringVar(&o.extra, "kernel-append", "", "more kernel parameters, like console=ttyS0,115200")
	for _, name := range []string{"kernel", "initrd", "api-url"} {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err) // a mistake above, which the first run of any test would show
		}
	}
	return c
}

// make writes the image. It appears complete or not at all.
func (o *isoOptions) make(ctx context.Context) (size int64, err error) {
	m := bootiso.Medium{}
	if m.Cmdline, err = o.cmdline(); err != nil {
		return 0, err
	}
	if m.Overlay, err = o.overlay(); err != nil {
		return 0, err
	}
	l, err := bootiso.ReadLoaders(os.DirFS(cmp.Or(o.loaders, filepath.Join(filepath.Dir(o.kernel), bootiso.Folder))))
	if err != nil {
		return 0, err
	}
	esp, err := bootiso.ESP(l.GRUB)
	if err != nil {
		return 0, fmt.Errorf("EFI system partition of the image: %w", err)
	}
	for _, part := range []struct {
		flag, file string
		to         *iso.Content
	}{{"--kernel", o.kernel, &m.Kernel}, {"--initrd", o.initrd, &m.Initrd}} {
		f, err := os.Open(part.file)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", part.flag, err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", part.flag, err)
		}
		if !info.Mode().IsRegular() {
			return 0, fmt.Errorf("%s: %s is not a regular file", part.flag, part.file)
		}
		*part.to = iso.Content{At: f, Size: info.Size()}
	}
	image, err := bootiso.New(l, esp, m)
	if err != nil {
		return 0, err
	}
	_, size, err = buildcache.WriteFile(o.out, func(w io.Writer) error {
		n, err := io.Copy(w, io.NewSectionReader(image, 0, image.Size()))
		return errors.Join(err, ctx.Err(), short(n, image.Size()))
	})
	return size, err
}

func short(n, want int64) error {
	if n != want {
		return fmt.Errorf("wrote %d of %d bytes", n, want)
	}
	return nil
}

// cmdline is the kernel line, of checked values.
func (o *isoOptions) cmdline() (string, error) {
	u, err := url.Parse(o.api)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", fmt.Errorf("--api-url %q: expected an http(s) URL such as http://192.0.2.1:6385", o.api)
	}
	base := strings.TrimSuffix(o.api, "/")
	words := []string{"ipa-api-url=" + base, "boot_method=vmedia", "ferrite.media=0", agentapi.PanicWord}
	if o.mac != "" {
		mac, err := net.ParseMAC(o.mac)
		if err != nil {
			return "", fmt.Errorf("--bootif: %w", err)
		}
		words = append(words, "BOOTIF="+mac.String())
	}
	if o.discover {
		words = append(words, "ipa-inspection-callback-url="+base+agentapi.ContinueInspectionPath,
			"ipa-inspection-collectors=default,pci-devices")
	}
	for _, pin := range o.pins {
		if sum, err := hex.DecodeString(pin); err != nil || len(sum) != 32 {
			return "", fmt.Errorf("--api-sha256 %q: expected 64 hexadecimal digits", pin)
		}
	}
	if len(o.pins) > 0 {
		words = append(words, "ferrite-api-sha256="+strings.Join(o.pins, ","))
	}
	return strings.TrimSpace(strings.Join(words, " ") + " " + o.extra), nil
}

// overlay is the archive with the machine's network_data; "" for none.
func (o *isoOptions) overlay() (string, error) {
	if o.network == "" {
		return "", nil
	}
	raw, err := os.ReadFile(o.network)
	if err != nil {
		return "", fmt.Errorf("--network-data: %w", err)
	}
	if _, err := netconfig.NetworkData(raw); err != nil {
		return "", fmt.Errorf("--network-data %s: %w", o.network, err)
	}
	return bootiso.Overlay(netconfig.Path, string(raw))
}
