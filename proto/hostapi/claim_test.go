package hostapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// document reads a document of a kind, of the namespace metal3.
func document(t *testing.T, kind, text string) hostapi.Document {
	t.Helper()
	k, ok := hostapi.KindOf(kind)
	if !ok {
		t.Fatalf("no kind %s", kind)
	}
	d := k.New()
	if err := json.Unmarshal([]byte(text), d); err != nil {
		t.Fatal(err)
	}
	d.About().Kind, d.Meta().Name, d.Meta().Namespace = kind, "a", "metal3"
	if v, ok := d.(interface{ SetDefaults() }); ok {
		v.SetDefaults()
	}
	return d
}

// TestOddValues: each odd value of the documents beside hosts is reported with its place; "" is a good document.
func TestOddValues(t *testing.T) {
	const claim, policy, events, image = hostapi.KindClaim, hostapi.KindDeployPolicy, hostapi.KindSubscription,
		hostapi.KindPreprovisioningImage
	const attachment, device = hostapi.KindNetworkAttachment, hostapi.KindSwitch
	for _, c := range []struct{ kind, text, want string }{
		{claim, `{}`, ``},
		{claim, `{"spec":{"hostSelector":{"matchExpressions":[{"key":"a/b","operator":"In","values":["x"]},{"key":"c","operator":"DoesNotExist"}]}}}`, ``},
		{claim, `{"spec":{"hostSelector":{"matchLabels":{"a b":"x"}}}}`, `spec.hostSelector.matchLabels[a b]: "a b"`},
		{claim, `{"spec":{"hostSelector":{"matchLabels":{"a":"x y"}}}}`, `spec.hostSelector.matchLabels[a]: "x y"`},
		{claim, `{"spec":{"hostSelector":{"inNamespace":"A"}}}`, `spec.hostSelector.inNamespace: "A"`},
		{claim, `{"spec":{"hostSelector":{"matchExpressions":[{"key":"a","operator":"near"}]}}}`, `spec.hostSelector.matchExpressions[0].operator: "near": expected one of in`},
		{claim, `{"spec":{"hostSelector":{"matchExpressions":[{"key":"a"}]}}}`, `spec.hostSelector.matchExpressions[0].operator: it is required`},
		{claim, `{"spec":{"hostSelector":{"matchExpressions":[{"operator":"exists"}]}}}`, `spec.hostSelector.matchExpressions[0].key: it is required`},
		{claim, `{"spec":{"hostSelector":{"matchExpressions":[{"key":"a","operator":"in"}]}}}`, `spec.hostSelector.matchExpressions[0].values: "0": expected one or more`},
		{claim, `{"spec":{"hostSelector":{"matchExpressions":[{"key":"a","operator":"=","values":["b","c"]}]}}}`, `spec.hostSelector.matchExpressions[0].values: "2": expected one`},
		{claim, `{"spec":{"hostSelector":{"matchExpressions":[{"key":"a","operator":"!","values":["b"]}]}}}`, `spec.hostSelector.matchExpressions[0].values: "1": expected none`},
		{claim, `{"spec":{"image":{"url":"ftp://h/i","checksum":"0"}}}`, `spec.image.url: "ftp://h/i"`},
		{claim, `{"spec":{"failureDomain":"a b"}}`, `spec.failureDomain: "a b"`},
		{claim, `{"metadata":{"annotations":{"reboot.metal3.io":"now"}}}`, `metadata.annotations[reboot.metal3.io]: "now"`},
		{policy, `{"spec":{"hostClaimNamespaces":{"names":["a"],"nameMatches":"^a$","hasLabels":[{"name":"b/c"}]}}}`, ``},
		{policy, `{"spec":{"hostClaimNamespaces":{"nameMatches":"("}}}`, `spec.hostClaimNamespaces.nameMatches: "(": expected a regular`},
		{policy, `{"spec":{"hostClaimNamespaces":{"names":["A b"]}}}`, `spec.hostClaimNamespaces.names[0]: "A b"`},
		{policy, `{"spec":{"hostClaimNamespaces":{"hasLabels":[{"value":"b"}]}}}`, `spec.hostClaimNamespaces.hasLabels[0].name: it is required`},
		{events, `{"spec":{"hostName":"h","destination":"https://10.0.0.1/","httpHeadersRef":{"name":"s","namespace":"metal3"}}}`, ``},
		{events, `{"spec":{"destination":"https://10.0.0.1/"}}`, `spec.hostName: the name of a`},
		{events, `{"spec":{"hostName":"h"}}`, `spec.destination: it is required`},
		{events, `{"spec":{"hostName":"h","destination":"https://10.0.0.1"}}`, `spec.destination: "https://10.0.0.1": expected a path`},
		{events, `{"spec":{"hostName":"h","destination":"/events"}}`, `spec.destination: "/events": expected a URL`},
		{events, `{"spec":{"hostName":"h","destination":"https://a/","httpHeadersRef":{"name":"s","namespace":"other"}}}`, `spec.httpHeadersRef.namespace: "other"`},
		{events, `{"spec":{"hostName":"h","destination":"https://a/","httpHeadersRef":{}}}`, `spec.httpHeadersRef.name: the name`},
		{image, `{"spec":{"acceptFormats":["iso","initrd"],"architecture":"aarch64"}}`, ``},
		{image, `{"spec":{"acceptFormats":["iso","vhd"]}}`, `spec.acceptFormats[1]: "vhd": expected one of iso, initrd`},
		{image, `{"spec":{"networkDataName":"A"}}`, `spec.networkDataName: "A"`},
		{attachment, `{"spec":{"nativeVLAN":100}}`, ``},
		{attachment, `{"spec":{"mode":"trunk","nativeVLAN":1,"allowedVLANs":["1","200-203"],"mtu":9000}}`, ``},
		{attachment, `{"spec":{"mode":"access","nativeVLAN":1,"allowedVLANs":["1"]}}`, `spec.allowedVLANs: a port of the mode access`},
		{attachment, `{"spec":{"mode":"trunk","nativeVLAN":1,"allowedVLANs":["20-10"]}}`, `spec.allowedVLANs[0]: "20-10"`},
		{attachment, `{"spec":{"mode":"trunk","nativeVLAN":1,"allowedVLANs":["4095"]}}`, `spec.allowedVLANs[0]: "4095"`},
		{attachment, `{"spec":{"mode":"any","nativeVLAN":5000,"mtu":1}}`, "spec.mode: \"any\": expected one of access, trunk, hybrid\nspec.nativeVLAN: \"5000\": expected 4094 or less\nspec.mtu: \"1\": expected 68 or more"},
		{device, `{"spec":{"address":"10.0.0.1","macAddress":"aa:bb:cc:dd:ee:ff","deviceType":"netmiko_cisco_ios","port":22}}`, ``},
		{device, `{"spec":{"macAddress":"aa-bb","driver":"own","port":70000}}`, "spec.address: it is required\nspec.macAddress: \"aa-bb\": expected a MAC"},
		{hostapi.KindHost, `{"spec":{"networkInterfaces":[{"name":"a","macAddress":"52:54:00:00:00:01"}]}}`, `spec.networkInterfaces[0]: a name and a macAddress`},
		{hostapi.KindHost, `{"spec":{"networkInterfaces":[{"name":"a"},{"name":"A"}]}}`, `spec.networkInterfaces[1]: "A": another entry`},
	} {
		got := strings.Join(texts(hostapi.Check(document(t, c.kind, c.text))), "\n")
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s\n got %s\nwant %s", c.kind, c.text, got, c.want)
		}
	}
	was, is := document(t, events, `{"spec":{"context":"a"}}`), document(t, events, `{"spec":{"context":"b"}}`)
	if got := texts(hostapi.CheckChange(was, is)); len(got) != 1 {
		t.Errorf("of a subscription that changes: %v", got)
	}
}

// TestDeployPolicy: a policy allows the namespaces for which all its constraints hold.
func TestDeployPolicy(t *testing.T) {
	labels := map[string]string{"kind": "test"}
	for text, want := range map[string]bool{
		`{}`:                                   false, // Metal3 ignores a policy without a constraint
		`{"hostClaimNamespaces":{}}`:           true,
		`{"hostClaimNamespaces":{"names":[]}}`: false,
		`{"hostClaimNamespaces":{"names":["a","red"]}}`:                            true,
		`{"hostClaimNamespaces":{"names":["blue"]}}`:                               false,
		`{"hostClaimNamespaces":{"nameMatches":"e"}}`:                              true,
		`{"hostClaimNamespaces":{"nameMatches":"^re$"}}`:                           false,
		`{"hostClaimNamespaces":{"hasLabels":[{"name":"kind"}]}}`:                  true,
		`{"hostClaimNamespaces":{"hasLabels":[{"name":"kind","value":"test"}]}}`:   true,
		`{"hostClaimNamespaces":{"hasLabels":[{"name":"kind","value":"prod"}]}}`:   false,
		`{"hostClaimNamespaces":{"hasLabels":[{"name":"kind"},{"name":"owner"}]}}`: false,
		`{"hostClaimNamespaces":{"names":["red"],"nameMatches":"blue"}}`:           false,
	} {
		p, ok := document(t, hostapi.KindDeployPolicy, `{"spec":`+text+`}`).(*hostapi.HostDeployPolicy)
		kept, err := json.Marshal(p) // a policy allows the same once it is stored
		if err != nil || !ok {
			t.Fatal(err)
		}
		again := hostapi.HostDeployPolicy{}
		if err := json.Unmarshal(kept, &again); err != nil {
			t.Fatal(err)
		}
		if got := again.Allows("red", labels); got != want || p.Allows("red", labels) != want {
			t.Errorf("%s allows red: %t, want %t", text, got, want)
		}
	}
}

// TestSelector has each operator, of a present label and of an absent one.
func TestSelector(t *testing.T) {
	labels := map[string]string{"disk": "nvme"}
	for text, want := range map[string]bool{
		`{"matchLabels":{"disk":"nvme"}}`: true, `{"matchLabels":{"disk":"hdd"}}`: false, `{"matchLabels":{"x":""}}`: false,
		`{"matchExpressions":[{"key":"disk","operator":"In","values":["hdd","nvme"]}]}`: true,
		`{"matchExpressions":[{"key":"disk","operator":"==","values":["hdd"]}]}`:        false,
		`{"matchExpressions":[{"key":"disk","operator":"notin","values":["hdd"]}]}`:     true,
		`{"matchExpressions":[{"key":"x","operator":"!=","values":["hdd"]}]}`:           true,
		`{"matchExpressions":[{"key":"disk","operator":"exists"}]}`:                     true,
		`{"matchExpressions":[{"key":"x","operator":"Exists"}]}`:                        false,
		`{"matchExpressions":[{"key":"x","operator":"DoesNotExist"}]}`:                  true,
		`{"matchExpressions":[{"key":"disk","operator":"!"}]}`:                          false,
	} {
		var s hostapi.HostSelector
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if got := s.Matches(labels); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}

// TestWarnings: fields without effect, and references that are refused at their use.
func TestWarnings(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{hostapi.KindHost, `{"spec":{"userData":{"name":"s","namespace":"metal3"}}}`, ``},
		{hostapi.KindHost, `{"spec":{"userData":{"name":"s","namespace":"other"},"taints":[{"key":"a","effect":"NoSchedule"}],"networkInterfaces":[{"name":"eth0"}]}}`,
			"spec.userData names a secret of namespace other\nspec.taints has no effect\nspec.networkInterfaces has no effect"},
		{hostapi.KindClaim, `{"spec":{"metaData":{"name":"s","namespace":"other"}}}`, `spec.metaData names`},
		{hostapi.KindDeployPolicy, `{}`, `spec.hostClaimNamespaces is missing`},
		{hostapi.KindSwitch, `{}`, `this conductor configures no switches`},
	} {
		got := hostapi.Warnings(document(t, c.kind, c.text))
		want := strings.Split(c.want, "\n")
		if c.want == "" {
			want = nil
		}
		if len(got) != len(want) {
			t.Errorf("%s: %q", c.text, got)
			continue
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%s: got %q, want %q", c.text, got[i], want[i])
			}
		}
	}
}
