package erase

import "context"

// canFormat: Format NVM takes one namespace, unless the drive says that it
// takes all of them.
func canFormat(ses uint32) func(Facts, Options) verdict {
	return func(f Facts, o Options) verdict {
		switch {
		case f.nvme == nil:
			return lacks("not an NVMe drive")
		case !o.NVMe:
			return lacks("switched off by agent_enable_nvme_secure_erase")
		case !f.nvme.controller.format:
			return lacks("the drive has no Format NVM (OACS)")
		case ses == sesCrypto && !f.nvme.controller.formatCrypto:
			return lacks("the drive has no cryptographic erase (FNA)")
		case (f.nvme.controller.erasesAll || f.nvme.controller.formatsAll) && f.nvme.namespaces > 1:
			return lacks("it would take all %d namespaces of the drive (FNA)", f.nvme.namespaces)
		}
		return verdict{}
	}
}

// format formats the namespace in the format it has. The command returns when
// it is done and cannot be aborted; SES must be set, or nothing need be erased.
func format(ses uint32) func(context.Context, job) error {
	return func(_ context.Context, j job) error {
		return formatCommand(j.facts.nvme.nsid, j.facts.nvme.namespace, ses).send(j, nil, eraseTimeout)
	}
}
