package serve

import "net/http"

// Paths of the conductor's ramdisk on boot HTTP, for readers of PreprovisioningImages. Machines have paths of their
// own: see pxe.InitrdPath. The files hold nothing that is secret.
const (
	ramdiskPrefix = "/ramdisk/"
	kernelFile    = "kernel"
	initrdFile    = "initrd"
)

// ramdiskFiles serves the conductor's ramdisk.
func (c Config) ramdiskFiles() http.Handler {
	mux := http.NewServeMux()
	for name, file := range map[string]string{kernelFile: c.Kernel, initrdFile: c.Initrd} {
		mux.HandleFunc("GET "+ramdiskPrefix+name, func(w http.ResponseWriter, r *http.Request) {
			if file == "" {
				http.NotFound(w, r)
				return
			}
			http.ServeFile(w, r, file)
		})
	}
	return mux
}
