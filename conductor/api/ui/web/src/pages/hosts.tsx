import { useState } from 'react'
import { create, readHosts, rules, type Host } from '../api/hosts'
import { session } from '../api/session'
import { DocumentEditor } from '../components/document-editor'
import { Dialog } from '../components/dialog'
import { Link } from '../components/link'
import { Empty, Failed } from '../components/notice'
import { Table } from '../components/table'
import { useData } from '../hooks/use-data'
import { useEvents } from '../hooks/use-events'
import { useRoute } from '../hooks/use-route'
import { plural, visible } from '../lib/format'
import { natural } from '../lib/order'
import { address } from '../lib/route'
import { HostPage } from './host/host'

/** HostsPage is Metal3's documents: all of them, or one. */
export function HostsPage() {
  const { rest } = useRoute()
  return rest.length >= 2 ? <HostPage namespace={rest[0]!} name={rest[1]!} /> : <HostList />
}

const template = `apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata:
  name: worker-0
spec:
  online: true
  bootMACAddress: 52:54:00:12:34:56
  bmc:
    address: redfish+https://10.0.0.7/redfish/v1/Systems/1
    credentialsName: worker-0-bmc
`

function HostList() {
  const found = useData((signal) => readHosts(signal), [])
  const [making, setMaking] = useState(false)
  useEvents(
    (events) => events.some((e) => e.document?.kind === 'BareMetalHost') && found.reload(),
    () => found.reload(),
  )
  const hosts = [...(found.data ?? [])].sort((a, b) => natural(a.metadata.name, b.metadata.name))
  return (
    <>
      <div className="heading">
        <h1>Hosts</h1>
        <p className="muted">{found.data && plural(hosts.length, 'host')}</p>
        {session.may(rules.write) && (
          <button type="button" className="button" onClick={() => setMaking(true)}>
            Add a host
          </button>
        )}
      </div>
      <Failed error={found.error} retry={found.reload} />
      {found.data && hosts.length === 0 && <Empty>No document describes a machine. “Add a host” makes one; ferrite host apply and kubectl do the same.</Empty>}
      {hosts.length > 0 && (
        <Table<Host>
          label="Hosts"
          rows={hosts}
          id={(h) => `${h.metadata.namespace}/${h.metadata.name}`}
          columns={[
            { label: 'Name', of: (h) => <Link to={address(['hosts', h.metadata.namespace, h.metadata.name])}>{visible(h.metadata.name)}</Link> },
            { label: 'Namespace', wide: true, of: (h) => visible(h.metadata.namespace) },
            { label: 'State', of: (h) => visible(h.status?.provisioning?.state || 'not registered') },
            { label: 'Operation', wide: true, of: (h) => visible(h.status?.operationalStatus ?? '') },
            { label: 'Online', of: (h) => (h.spec.online ? 'yes' : 'no') },
            { label: 'BMC', wide: true, of: (h) => visible(h.spec.bmc?.address ?? '') },
            { label: 'Error', of: (h) => <span className="bad">{visible(h.status?.errorMessage ?? '')}</span> },
          ]}
        />
      )}
      {making && (
        <Dialog title="Add a host" onClose={() => setMaking(false)} wide>
          <DocumentEditor
            label="BareMetalHost, as YAML"
            text={template}
            check={(text, signal) => create('default', text, true, signal)}
            save={(text) => create('default', text, false)}
            saved={() => {
              setMaking(false)
              found.reload()
            }}
            button="Add"
            rows={14}
          />
        </Dialog>
      )}
    </>
  )
}
