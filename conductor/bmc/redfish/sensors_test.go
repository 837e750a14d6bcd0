package redfish_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/recorded"
	"github.com/ferrite-metal/ferrite/lab/recorded/recordedtest"
)

// readSensors reads the sensors of the small BMC after a change. It answers only the sensors in groups.
func readSensors(t *testing.T, groups string, change func(docs map[string]map[string]any)) node.SensorReport {
	t.Helper()
	docs := recordedtest.Small()
	docs[partsSystem]["Links"] = document{"Chassis": []any{link(partsChassis)}}
	docs[partsChassis] = document{"Id": "1"}
	change(docs)
	web := recordedtest.Serve(t, docs, recorded.Config{})
	d := redfish.New(redfish.Options{})
	defer func() { _ = d.Close() }()
	r, err := d.Sensors(t.Context(), node.Node{UUID: "n1", DriverInfo: map[string]any{"redfish_address": web.URL}})
	if err != nil {
		t.Fatal(err)
	}
	var kept []node.Sensor
	for _, s := range r.Sensors {
		if strings.Contains(groups, s.Group) {
			kept = append(kept, s)
		}
	}
	r.Sensors = kept
	return r
}

func value(v float64) *float64 { return &v }

// TestSensors has each source, with the values that BMCs write into it.
func TestSensors(t *testing.T) {
	const list = partsChassis + "/Sensors"
	enabled := document{"State": "Enabled", "Health": "OK"}
	sensor := func(name, kind, units string, reading any) document {
		return document{"@odata.id": list + "/" + name, "Id": name, "Name": name, "Reading": reading, "ReadingType": kind,
			"ReadingUnits": units, "Status": enabled}
	}
	for name, tc := range map[string]struct {
		groups string
		change func(d map[string]map[string]any)
		source string
		want   []node.Sensor
	}{
		"thermal and power": {"Temperature Fan Power Voltage", func(d map[string]map[string]any) {
			d[partsChassis]["Thermal"], d[partsChassis]["Power"] = link(partsChassis+"/Thermal"), link(partsChassis+"/Power")
			d[partsChassis+"/Thermal"] = document{
				"Temperatures": []any{
					document{"Name": "CPU1 Temp", "MemberId": 0, "ReadingCelsius": 37, "PhysicalContext": "CPU",
						"UpperThresholdCritical": 99, "Status": enabled},
					document{"Name": "Empty", "ReadingCelsius": 0, "Status": document{"State": "Absent"}},
					document{"Name": "CPU1 Temp", "ReadingCelsius": "38.5", "Status": document{"Health": "Critical"}}},
				"Fans": []any{document{"FanName": "Fan 1", "Reading": 51, "ReadingUnits": "Percent", "Status": "odd"}}}
			d[partsChassis+"/Power"] = document{
				"PowerControl":  []any{document{"PowerConsumedWatts": 614}},
				"PowerSupplies": []any{document{"Name": "PS1", "LastPowerOutputWatts": 273, "PowerOutputWatts": nil}},
				"Voltages":      []any{document{"Name": "12V", "ReadingVolts": nil}}}
		}, "Thermal and Power", []node.Sensor{
			{Group: "Temperature", Name: "CPU1 Temp", ID: "0", Of: "1", Context: "CPU", Reading: value(37), Unit: "Cel",
				Critical: value(99), State: "Enabled", Health: "OK"},
			{Group: "Temperature", Name: "CPU1 Temp-2", Of: "1", Reading: value(38.5), Unit: "Cel", Health: "Critical"},
			{Group: "Fan", Name: "Fan 1", Of: "1", Reading: value(51), Unit: "%"},
			{Group: "Power", Name: "Power", Of: "1", Reading: value(614), Unit: "W"},
			{Group: "Power", Name: "PS1", Of: "1", Reading: value(273), Unit: "W"},
		}},
		"sensors, for what thermal lacks": {"Temperature Power Other", func(d map[string]map[string]any) {
			d[partsChassis]["Thermal"], d[partsChassis]["Sensors"] = link(partsChassis+"/Thermal"), link(list)
			d[partsChassis+"/Thermal"] = document{"Temperatures": []any{document{"Name": "A", "ReadingCelsius": 20}}}
			d[list] = members(list+"/T", list+"/P", list+"/gone", list+"/L")
			d[list+"/T"], d[list+"/P"] = sensor("T", "Temperature", "Cel", 21), sensor("P", "Power", "W", 300)
			d[list+"/L"] = sensor("L", "LiquidLevel", "%", 80)
		}, "Thermal and Power, Sensors", []node.Sensor{
			{Group: "Temperature", Name: "A", Of: "1", Reading: value(20), Unit: "Cel"},
			{Group: "Other", Name: "L", ID: "L", Of: "1", Reading: value(80), Unit: "%", State: "Enabled", Health: "OK"},
			{Group: "Power", Name: "P", ID: "P", Of: "1", Reading: value(300), Unit: "W", State: "Enabled", Health: "OK"},
		}},
		"an expanded list": {"Temperature", func(d map[string]map[string]any) {
			d[partsChassis]["Sensors"] = link(list)
			d[list] = document{"Members": []any{sensor("T", "Temperature", "Cel", 21)}} // no resource of its own
		}, "Sensors", []node.Sensor{{Group: "Temperature", Name: "T", ID: "T", Of: "1", Reading: value(21), Unit: "Cel",
			State: "Enabled", Health: "OK"}}},
		"metric reports": {"Temperature Power", func(d map[string]map[string]any) {
			const service = "/redfish/v1/TelemetryService"
			d["/redfish/v1"]["TelemetryService"] = link(service)
			d[service] = document{"MetricReports": link(service + "/MetricReports")}
			d[service+"/MetricReports"] = members(service + "/MetricReports/All")
			d[service+"/MetricReports/All"] = document{"MetricValues": []any{
				document{"MetricProperty": list + "/CPU_Temp_0#/Reading", "MetricValue": "45.5"},
				document{"MetricProperty": list + "/Total_Power_0", "MetricValue": "1300"},
				document{"MetricProperty": "/redfish/v1/Systems/1/Processors/0#/Speed", "MetricValue": "3"},
				document{"MetricProperty": list + "/Other_Temp", "MetricValue": "nan"}}}
		}, "MetricReports", []node.Sensor{
			{Group: "Temperature", Name: "CPU_Temp_0", ID: "CPU_Temp_0", Of: "1", Reading: value(45.5), Unit: "Cel"},
			{Group: "Power", Name: "Total_Power_0", ID: "Total_Power_0", Of: "1", Reading: value(1300), Unit: "W"},
		}},
		"all chassis of the BMC, where the system names none": {"Temperature", func(d map[string]map[string]any) {
			delete(d[partsSystem], "Links")
			d["/redfish/v1"]["Chassis"] = link("/redfish/v1/Chassis")
			d["/redfish/v1/Chassis"] = members(partsChassis)
			d[partsChassis]["Thermal"] = link(partsChassis + "/Thermal")
			d[partsChassis+"/Thermal"] = document{"Temperatures": []any{document{"Name": "A", "ReadingCelsius": 20}}}
		}, "Thermal and Power", []node.Sensor{{Group: "Temperature", Name: "A", Of: "1", Reading: value(20), Unit: "Cel"}}},
		"drives, and memory that is not well": {"Drive Memory Processor", func(d map[string]map[string]any) {
			d[partsSystem+"/Storage/0/Drives/0"]["Status"] = document{"Health": "Critical", "State": "Enabled"}
			d[partsSystem]["MemorySummary"] = document{"Status": document{"HealthRollup": "Warning"}}
			d[partsSystem]["ProcessorSummary"] = document{"Status": document{"Health": "OK"}}
			d[partsSystem+"/Memory/A1"]["Status"] = document{"Health": "Warning"}
		}, "", []node.Sensor{
			{Group: "Drive", Name: "Bay 0", ID: "0", State: "Enabled", Health: "Critical"},
			{Group: "Memory", Name: "All", Health: "Warning"},
			{Group: "Memory", Name: "A1", Health: "Warning"},
			{Group: "Processor", Name: "All", Health: "OK"},
		}},
	} {
		r := readSensors(t, tc.groups, tc.change)
		if diff := cmp.Diff(tc.want, r.Sensors); diff != "" || r.Source != tc.source {
			t.Errorf("%s: from %q, %v (-want +got):\n%s", name, r.Source, r.Incomplete, diff)
		}
	}
}
