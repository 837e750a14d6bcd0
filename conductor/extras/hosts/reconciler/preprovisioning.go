package reconciler

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// DeployImage is a ramdisk that machines can be installed with.
type DeployImage struct {
	Format       hostapi.ImageFormat
	Architecture string // "" for any
	URL          string
	KernelURL    string // of an initrd
	Params       string // further kernel parameters, of an initrd
}

// Reasons of conditions of PreprovisioningImages, in Metal3's words.
const (
	imageSuccess       = "ImageSuccess"
	imageConfiguration = "ConfigurationError"
	imageNetworkData   = "MissingNetworkData"
)

// lookAtPreprovisioningImage brings the status of one PreprovisioningImage up to date. The ramdisk of the node comes
// before the conductor's, if the document has the name of a host.
func (r *Reconciler) lookAtPreprovisioningImage(ctx context.Context, k key) (n next, err error) {
	p, err := getIfAny[hostapi.PreprovisioningImage](ctx, r.Documents, k.namespace, k.name)
	if p == nil || err != nil || p.DeletionTimestamp != nil {
		return n, err
	}
	n.on = []string{changeOf(hostapi.KindHost, k)}
	images := r.DeployImages
	machine, _, err := r.machineOf(ctx, k.namespace, k.name)
	if err != nil {
		return n, err
	}
	if machine != nil {
		images = append(nodeImages(*machine), images...)
	}
	var secret *hostapi.Secret
	if name := p.Spec.NetworkDataName; name != "" {
		n.on = append(n.on, changeOf(hostapi.KindSecret, key{k.namespace, name}))
		if secret, err = getIfAny[hostapi.Secret](ctx, r.Documents, k.namespace, name); err != nil {
			return n, fmt.Errorf("secret %s: %w", name, err)
		}
	}
	is := imageStatus(*p, images, secret, hostapi.At(r.Now()))
	if reflect.DeepEqual(is, p.Status) {
		return n, nil
	}
	p.Status = is
	_, err = objects.Save(ctx, r.Documents, *p)
	return n, overtaken(err)
}

// nodeImages are the ramdisks that a node names itself.
func nodeImages(n node.Node) (all []DeployImage) {
	arch, _ := n.Properties["cpu_arch"].(string)
	kernel, _ := n.DriverInfo["deploy_kernel"].(string)
	initrd, _ := n.DriverInfo["deploy_ramdisk"].(string)
	if fetchable(kernel) && fetchable(initrd) {
		all = append(all, DeployImage{Format: hostapi.FormatInitrd, Architecture: arch, URL: initrd, KernelURL: kernel})
	}
	if iso, _ := n.AgentISOs(); fetchable(iso) {
		all = append(all, DeployImage{Format: hostapi.FormatISO, Architecture: arch, URL: iso})
	}
	return all
}

// fetchable reports whether others than the conductor can fetch an image: by http or https, without a password.
func fetchable(at string) bool {
	u, err := url.Parse(at)
	return err == nil && u.User == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// imageStatus is the status of a PreprovisioningImage. secret is the one with its network data; nil for none.
func imageStatus(p hostapi.PreprovisioningImage, images []DeployImage, secret *hostapi.Secret,
	now hostapi.Time) hostapi.PreprovisioningImageStatus {
	is := hostapi.PreprovisioningImageStatus{Architecture: p.Spec.Architecture, Conditions: p.Status.Conditions}
	set := func(kind string, holds bool, reason, message string) {
		is.Conditions = hostapi.WithCondition(is.Conditions, hostapi.Condition{Type: kind,
			Status: hostapi.ConditionStatus(holds), Reason: reason, Message: message, ObservedGeneration: p.Generation,
			LastTransitionTime: now})
	}
	image, err := chooseImage(p.Spec, images)
	reason := imageConfiguration
	if err == nil && p.Spec.NetworkDataName != "" {
		if secret == nil {
			reason, err = imageNetworkData, fmt.Errorf("the secret %s/%s of spec.networkDataName does not exist", p.Namespace,
				p.Spec.NetworkDataName)
		} else {
			is.NetworkData = hostapi.SecretStatus{Name: secret.Name, Version: secret.ResourceVersion}
		}
	}
	if err != nil {
		set(hostapi.ConditionReady, false, reason, "")
		set(hostapi.ConditionError, true, reason, err.Error())
		return is
	}
	is.ImageURL, is.KernelURL, is.ExtraKernelParams, is.Format = image.URL, image.KernelURL, image.Params, image.Format
	message := "the ramdisk can be fetched"
	if p.Spec.NetworkDataName != "" {
		message += "; the network data is not in it: a host passes it on by spec.preprovisioningNetworkDataName"
	}
	set(hostapi.ConditionReady, true, imageSuccess, message)
	set(hostapi.ConditionError, false, imageSuccess, "")
	return is
}

// chooseImage finds a ramdisk of the architecture, in the first acceptable format.
func chooseImage(s hostapi.PreprovisioningImageSpec, images []DeployImage) (DeployImage, error) {
	var formats []string
	var fits []DeployImage
	for _, i := range images {
		formats = append(formats, strings.TrimSpace(string(i.Format)+" "+i.Architecture))
		if s.Architecture == "" || i.Architecture == "" || s.Architecture == i.Architecture {
			fits = append(fits, i)
		}
	}
	switch {
	case len(images) == 0:
		return DeployImage{},
			errors.New("this conductor has no ramdisk: give it --boot, --ramdisk-kernel and --ramdisk-initrd")
	case len(fits) == 0:
		return DeployImage{}, fmt.Errorf("there is no ramdisk for %s: there is %s", s.Architecture,
			strings.Join(formats, ", "))
	}
	for _, f := range s.AcceptFormats {
		if at := slices.IndexFunc(fits, func(i DeployImage) bool { return i.Format == f }); at >= 0 {
			return fits[at], nil
		}
	}
	return DeployImage{}, fmt.Errorf("spec.acceptFormats has none of the formats there are: %s",
		strings.Join(formats, ", "))
}
