import { useState } from 'react'
import { readHost, readHostEvents, readText, remove, rules, writeText } from '../../api/hosts'
import { session } from '../../api/session'
import { DeleteDialog } from '../../components/delete-dialog'
import { DocumentEditor } from '../../components/document-editor'
import { Facts } from '../../components/facts'
import { Link } from '../../components/link'
import { Failed } from '../../components/notice'
import { Table } from '../../components/table'
import { useData } from '../../hooks/use-data'
import { useEvents } from '../../hooks/use-events'
import { go } from '../../hooks/use-route'
import { dateTime, visible } from '../../lib/format'
import { address } from '../../lib/route'

/** HostPage is one document: what is so, its conditions and events, and the document itself. */
export function HostPage({ namespace, name }: { namespace: string; name: string }) {
  const host = useData((signal) => readHost(namespace, name, signal), [namespace, name])
  const events = useData((signal) => readHostEvents(namespace, name, signal), [namespace, name])
  const [turn, setTurn] = useState(0)
  const text = useData((signal) => readText(namespace, name, signal), [namespace, name, turn])
  const [deleting, setDeleting] = useState(false)
  useEvents(
    (found) => {
      if (!found.some((e) => e.document?.name === name)) return
      host.reload()
      events.reload()
    },
    () => host.reload(),
  )
  const h = host.data
  if (!h)
    return (
      <>
        <h1>{visible(name)}</h1>
        {host.error === '' ? <p className="empty">Reading …</p> : <Failed error={host.error} retry={host.reload} />}
      </>
    )
  const s = h.status ?? {}
  const may = session.may(rules.write)
  return (
    <>
      <p className="crumbs">
        <Link to={address(['hosts'])}>Hosts</Link>
      </p>
      <div className="heading">
        <h1>{visible(name)}</h1>
        <span className="muted">{visible(s.provisioning?.state || 'not registered')}</span>
        {may && (
          <button type="button" className="button careful" onClick={() => setDeleting(true)}>
            Delete
          </button>
        )}
      </div>
      {s.errorMessage && <p className="notice notice-error">{visible(s.errorMessage)}</p>}
      <Facts
        of={[
          ['Namespace', visible(namespace)],
          ['Operation', visible(s.operationalStatus ?? '')],
          ['Power', s.poweredOn ? 'on' : 'off'],
          ['BMC', visible(h.spec.bmc?.address ?? '')],
          ['Image', visible(h.spec.image?.url ?? '')],
          ['Node', s.provisioning?.ID ? <Link to={address(['machines', s.provisioning.ID])}>{visible(s.provisioning.ID)}</Link> : ''],
        ]}
      />
      <h2>Conditions</h2>
      <Table
        label="Conditions"
        rows={s.conditions ?? []}
        id={(c) => c.type}
        columns={[
          { label: 'Condition', of: (c) => visible(c.type) },
          { label: 'Status', of: (c) => (c.status === 'True' ? <span className="good">✓ yes</span> : c.status === 'False' ? 'no' : 'unknown') },
          { label: 'Reason', of: (c) => visible(c.reason ?? '') },
          { label: 'Message', wide: true, of: (c) => visible(c.message ?? '') },
          { label: 'Since', wide: true, of: (c) => dateTime(c.lastTransitionTime) },
        ]}
      />
      {(events.data ?? []).length > 0 && (
        <>
          <h2>Events</h2>
          <Table
            label="Events"
            rows={events.data ?? []}
            id={(e, i) => `${e.reason}${i}`}
            columns={[
              { label: 'Last', short: true, of: (e) => dateTime(e.lastTimestamp) },
              { label: 'Reason', of: (e) => (e.type === 'Warning' ? <span className="bad">▲ {visible(e.reason)}</span> : visible(e.reason)) },
              { label: 'Message', of: (e) => visible(e.message) },
            ]}
          />
        </>
      )}
      <h2>Document</h2>
      <Failed error={text.error} retry={text.reload} />
      {text.data !== undefined &&
        (may ? (
          <DocumentEditor
            key={text.data}
            label="The document, as YAML"
            text={text.data}
            check={(typed, signal) => writeText(namespace, name, typed, true, signal)}
            save={(typed) => writeText(namespace, name, typed, false)}
            saved={() => {
              setTurn(turn + 1)
              host.reload()
            }}
            button="Apply"
          />
        ) : (
          <pre className="log">{visible(text.data)}</pre>
        ))}
      {may && (
        <p>
          <button type="button" onClick={() => setTurn(turn + 1)}>
            Reload the document
          </button>
        </p>
      )}
      {deleting && (
        <DeleteDialog
          name={name}
          danger="A provisioned machine is deprovisioned: its workload ends, and its disks are cleaned as the document says."
          send={() => remove(namespace, name)}
          onClose={() => setDeleting(false)}
          deleted={() => go(address(['hosts']))}
        />
      )}
    </>
  )
}
