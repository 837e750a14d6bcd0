package redfish_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/recorded"
	"github.com/ferrite-metal/ferrite/lab/recorded/recordedtest"
)

// TestReports: documents that ended other clients, by the report; a person is let in by a session.
func TestReports(t *testing.T) {
	type docs = map[string]map[string]any
	for report, change := range map[string]func(d docs){
		"DMTF/python-redfish-library#4: Huawei has no Links in its root": func(d docs) { delete(d["/redfish/v1"], "Links") },
		"dsx-ai-factory/infra-controller#4100: members with half of themselves": func(d docs) {
			d[partsSystem+"/EthernetInterfaces"]["Members"] = []any{document{"@odata.id": partsSystem + "/EthernetInterfaces/1",
				"LinkStatus": nil}}
		},
		"criteo/hwbench#25: a path of the vendor's is not there": func(d docs) {
			d[partsSystem]["Links"].(map[string]any)["Oem"] = document{"Dell": document{"A": link("/redfish/v1/gone")}}
			d[partsSystem]["SimpleStorage"] = link("/redfish/v1/gone")
		},
		"stmcginnis/gofish#76: a chassis of what is required alone": func(d docs) {
			d[partsSystem]["Links"].(map[string]any)["Chassis"] = []any{link(partsChassis), link("/redfish/v1/Chassis/RAID")}
			d["/redfish/v1/Chassis/RAID"] = document{"@odata.id": "/redfish/v1/Chassis/RAID", "Id": "RAID", "Name": "RAID"}
		},
		"sapcc/redfish-exporter#8: a failed DIMM has no Status": func(d docs) {
			d[partsSystem+"/Memory/A1"] = document{"Id": "A1"}
		},
		"mrlhansen/idrac_exporter#176: a fraction for a whole number": func(d docs) {
			d[partsSystem]["ProcessorSummary"] = document{"LogicalProcessorCount": 8.08}
		},
	} {
		t.Run(report, func(t *testing.T) {
			small := recordedtest.Small()
			change(small)
			web := recordedtest.Serve(t, small, recorded.Config{Username: "admin", Password: "right"})
			readAll(t, web.URL)
		})
	}
	t.Run("DMTF/Redfish-Mockup-Creator#63: documents are empty", func(t *testing.T) {
		bmc := recordedtest.New(t, recordedtest.Small(), recorded.Config{Username: "admin", Password: "right"})
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != partsSystem+"/Storage" && r.URL.Path != partsChassis && r.URL.Path != "/redfish/v1/Managers/1" {
				bmc.ServeHTTP(w, r)
			}
		}))
		defer web.Close()
		readAll(t, web.URL)
	})
}

// readAll manages, inspects and restarts a machine.
func readAll(t *testing.T, address string) {
	t.Helper()
	d := redfish.New(redfish.Options{})
	n := node.Node{UUID: "n1", DriverInfo: map[string]any{"redfish_address": address, "redfish_username": "admin",
		"redfish_password": "right"}}
	if v, err := d.Vitals(t.Context(), n); err != nil || v.Power != node.PowerOn {
		t.Errorf("%v, power %q", err, v.Power)
	}
	if sys, err := d.System(t.Context(), n); err != nil || sys.CPUs != 8 || len(sys.MACs) != 1 {
		t.Errorf("%v, %+v", err, sys)
	}
	if p, err := d.Parts(t.Context(), n); err != nil || len(p.Cards) != 1 {
		t.Errorf("%v, %+v", err, p)
	}
	if _, err := d.ReportHardware(t.Context(), n); err != nil {
		t.Error(err)
	}
	if err := d.SetPower(t.Context(), n, node.Rebooting); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
