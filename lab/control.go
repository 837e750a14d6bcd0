package lab

import (
	"encoding/json"
	"net/http"
)

// control is the lab's side door for scripts, on the host's loopback:
//
//	GET    /state                       the lab, as in its state file
//	GET    /machines/NAME/counters      the requests of clients to its controller
//	PUT    /machines/NAME/fault         see redfish.Server.Control
//	DELETE /machines/NAME/fault
//	GET    /images                      the requests for each image
//	PUT    /images/fault?name=FILE      an ImageFault
//	DELETE /images/fault                all of them
//	GET    /phone-homes                 the reports that came
func (l *Lab) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /state", func(w http.ResponseWriter, _ *http.Request) { l.writeJSON(w, l.State()) })
	mux.HandleFunc("GET /images", func(w http.ResponseWriter, _ *http.Request) { l.writeJSON(w, l.Images.Counts()) })
	mux.HandleFunc("GET /phone-homes", func(w http.ResponseWriter, _ *http.Request) { l.writeJSON(w, l.PhoneHomes()) })
	mux.HandleFunc("PUT /images/fault", l.putImageFault)
	mux.HandleFunc("DELETE /images/fault", func(w http.ResponseWriter, _ *http.Request) {
		l.Images.ClearFaults()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("/machines/{name}/", func(w http.ResponseWriter, r *http.Request) {
		m := l.Machine(r.PathValue("name"))
		if m == nil {
			http.Error(w, "there is no machine of that name", http.StatusNotFound)
			return
		}
		http.StripPrefix("/machines/"+m.Name, m.BMC.Control()).ServeHTTP(w, r)
	})
	return mux
}

func (l *Lab) putImageFault(w http.ResponseWriter, r *http.Request) {
	var f ImageFault
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxReport))
	d.DisallowUnknownFields()
	err := d.Decode(&f)
	if err == nil {
		err = l.Images.SetFault(r.URL.Query().Get("name"), f)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (l *Lab) writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		l.log.Debug("control answer not taken", "err", err)
	}
}
