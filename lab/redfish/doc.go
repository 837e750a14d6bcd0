// Package redfish is the board controller of one lab machine: a Redfish
// service (DMTF DSP0266, DSP2046) that presses the machine's buttons, with the
// sessions, ETags and errors real controllers have, and with their failures
// on demand.
//
// Its documents are the JSON files in tree; values.go has the values of their
// placeholders, and routes.go the changes. A deviation is a row of
// tree/deviations.json, with its changes of documents, and where it refuses
// requests a row of refusal.go. A personality is a row of
// tree/personalities.json.
//
// It must not start processes or touch the network itself: it acts through
// the Machine interface and fetches media and firmware with the HTTP client it
// is given.
package redfish
