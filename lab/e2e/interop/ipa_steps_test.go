package interop

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// list answers as recorded, with the version of now.
func (a *ipaAgent) list(params map[string]json.RawMessage) (any, error) {
	if err := a.checkNode(params); err != nil {
		return nil, err
	}
	a.mu.Lock()
	kind := strings.TrimSuffix(strings.TrimPrefix(a.commands[len(a.commands)-1].Name, "get_"), "_steps")
	slow := a.manner.slow
	a.manner.slow = false
	a.mu.Unlock()
	for range 2 {
		if slow && !a.calledAgain() {
			break
		}
	}
	var reply agentapi.Result
	recorded(a.t, kind+".get_"+kind+"_steps-reply", &reply)
	var steps map[string]any
	if err := json.Unmarshal(reply.Result, &steps); err != nil {
		return nil, err
	}
	steps["hardware_manager_version"] = a.versions()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.manner.updated {
		a.manner.updated, a.version = false, "1.2"
	}
	return steps, nil
}

// calledAgain waits for another heartbeat to be taken.
func (a *ipaAgent) calledAgain() bool {
	select {
	case <-a.taken: // one from before
	default:
	}
	a.force()
	select {
	case <-a.taken:
		return true
	case <-a.life.Done():
		return false
	}
}

func (a *ipaAgent) versions() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return map[string]string{"generic_hardware_manager": a.version}
}

// checkNode wants the node and its ports, as the agent's managers read them.
func (a *ipaAgent) checkNode(params map[string]json.RawMessage) error {
	var node struct {
		UUID               string
		Properties         map[string]any
		InstanceInfo       map[string]any `json:"instance_info"`
		DriverInternalInfo map[string]any `json:"driver_internal_info"`
	}
	var ports []struct{ Address string }
	if err := errors.Join(json.Unmarshal(params["node"], &node), json.Unmarshal(params["ports"], &ports)); err != nil {
		return err
	}
	uuid, token := a.identity()
	if node.UUID != uuid || node.Properties == nil || node.InstanceInfo == nil || node.DriverInternalInfo == nil {
		return fmt.Errorf("node is %s", params["node"])
	}
	if len(ports) != 1 || ports[0].Address != ipaMAC {
		return fmt.Errorf("ports are %s", params["ports"])
	}
	for _, secret := range []string{bmcPassword, token} {
		if bytes.Contains(params["node"], []byte(secret)) {
			return fmt.Errorf("the node has a secret in it: %s", params["node"])
		}
	}
	return nil
}

// execute does a step, and echoes it as it came.
func (a *ipaAgent) execute(params map[string]json.RawMessage) (any, error) {
	if err := a.checkNode(params); err != nil {
		return nil, err
	}
	kind := "clean"
	version := params["clean_version"]
	if v, given := params["deploy_version"]; given {
		kind, version = "deploy", v
	}
	var planned map[string]string
	if err := json.Unmarshal(version, &planned); err != nil {
		return nil, fmt.Errorf("%s_version: %w", kind, err)
	}
	if planned != nil && !maps.Equal(planned, a.versions()) {
		a.machine.note("  is another than it was")
		return nil, errOutdated
	}
	var step struct {
		Interface, Step string
		Args            map[string]json.RawMessage
	}
	if err := json.Unmarshal(params["step"], &step); err != nil {
		return nil, fmt.Errorf("step: %w", err)
	}
	a.machine.note("  " + step.Interface + "." + step.Step)
	if failure := a.manner.fails[step.Step]; failure != nil {
		return nil, failure
	}
	var result any
	if step.Step == "write_image" {
		written, err := a.writeImage(step.Args)
		if err != nil {
			return nil, err
		}
		result = map[string]string{"result": written}
	}
	return map[string]any{kind + "_result": result, kind + "_step": params["step"]}, nil
}

// writeImage checks the image to write, and asks the conductor for the node once more.
func (a *ipaAgent) writeImage(args map[string]json.RawMessage) (string, error) {
	for name := range args {
		if name != "image_info" && name != "configdrive" {
			return "", fmt.Errorf("write_image got an unexpected keyword argument %q", name)
		}
	}
	var info agentapi.ImageInfo
	var drive string
	if err := errors.Join(json.Unmarshal(args["image_info"], &info),
		json.Unmarshal(args["configdrive"], &drive)); err != nil {
		return "", fmt.Errorf("write_image: %w", err)
	}
	if err := info.Validate(); err != nil {
		return "", err
	}
	uuid, _ := a.identity()
	if info.NodeUUID != uuid || info.OSHashAlgo != "sha256" || info.DiskFormat != "qcow2" {
		return "", fmt.Errorf("image_info is %s", args["image_info"])
	}
	if err := a.download(info); err != nil {
		return "", err
	}
	if err := checkDrive(drive); err != nil {
		return "", fmt.Errorf("configdrive: %w", err)
	}
	if err := a.divide(args["image_info"]); err != nil {
		return "", err
	}
	a.lookup(uuid)
	return fmt.Sprintf("prepare_image: image (%s) written to device /dev/vda root_uuid=0x00000000", info.ID), nil
}

// download makes the file that an image which is not streamed goes into: as
// os.path.join(tempfile.gettempdir(), image_info['id']) of ironic-python-agent,
// which makes no folders, and which an absolute path would lead elsewhere.
func (a *ipaAgent) download(info agentapi.ImageInfo) error {
	if info.DiskFormat == "raw" && info.StreamRawImages {
		return nil
	}
	at := info.ID
	if !filepath.IsAbs(at) {
		at = a.machine.tmp + "/" + at
	}
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("unable to write image to %s: %w", at, err)
	}
	return errors.Join(f.Close(), os.Remove(at))
}

// checkDrive wants an ISO 9660 file system called config-2 that knows the
// instance, zipped and in base64.
func checkDrive(drive string) error {
	packed, err := base64.StdEncoding.DecodeString(drive)
	if err != nil {
		return err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	iso, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	const descriptor, label = 0x8001, 0x8028 // ECMA-119, 8.4
	if len(iso) < 0x8800 || string(iso[descriptor:descriptor+5]) != "CD001" ||
		!bytes.HasPrefix(bytes.ToLower(iso[label:]), []byte("config-2")) {
		return errors.New("not an ISO 9660 file system called config-2")
	}
	if !bytes.Contains(iso, []byte(ipaHostname)) {
		return fmt.Errorf("it does not know the hostname %s", ipaHostname)
	}
	return nil
}

func (a *ipaAgent) installBootloader(params map[string]json.RawMessage) (any, error) {
	got := map[string]any{}
	for key, raw := range params {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, err
		}
		got[key] = v
	}
	if diff := cmp.Diff(a.bootParams(), got); diff != "" {
		return nil, fmt.Errorf("install_bootloader (-want +got):\n%s", diff)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.partitions && !a.grub { // since CVE-2026-43003, and by UEFI too
		return nil, fmt.Errorf("legacy BIOS bootloaders are disabled by CONF.enable_bios_bootloader_install")
	}
	return nil, nil
}

// systemLogs are the logs that the agent gathers of its machine: files of texts, packed.
func (a *ipaAgent) systemLogs(map[string]json.RawMessage) (any, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{"journal": ipaJournal, "ps": "PID TTY TIME CMD\n"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644}); err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return nil, err
	}
	return agentapi.SystemLogs{SystemLogs: base64.StdEncoding.EncodeToString(packed.Bytes())}, nil
}

func (a *ipaAgent) nothing(map[string]json.RawMessage) (any, error) { return nil, nil }

// powerOff ends the boot: connections break off.
func (a *ipaAgent) powerOff(map[string]json.RawMessage) (any, error) {
	go a.machine.turnOffBy(a)
	return nil, nil
}

// finalizeRescue keeps the password, and the agent's API ends with the answer.
func (a *ipaAgent) finalizeRescue(params map[string]json.RawMessage) (any, error) {
	var password string
	var hashed bool
	if err := errors.Join(json.Unmarshal(params["rescue_password"], &password),
		json.Unmarshal(params["hashed"], &hashed)); err != nil {
		return nil, err
	}
	if !hashed || !strings.HasPrefix(password, "$6$") {
		return nil, fmt.Errorf("the password is %q, hashed %v", password, hashed)
	}
	return nil, nil
}
