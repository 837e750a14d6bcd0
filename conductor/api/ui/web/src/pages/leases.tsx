import { useState, type FormEvent } from 'react'
import { call, get, path } from '../api/client'
import { errorText } from '../api/fault'
import { session } from '../api/session'
import type { Lease } from '../api/types'
import { Empty, Failed, Notice } from '../components/notice'
import { Table } from '../components/table'
import { useData } from '../hooks/use-data'
import { dateTime, plural, visible } from '../lib/format'

/** LeasesPage is the addresses that the boot service has assigned, or reserves for a machine. */
export function LeasesPage() {
  const found = useData((signal) => get<{ leases: Lease[] }>('/ferrite/v1/leases', undefined, signal), [])
  const [error, setError] = useState('')
  const may = session.may('ferrite:lease:set')
  const act = (what: Promise<unknown>) =>
    void what.then(
      () => {
        setError('')
        found.reload()
      },
      (err: unknown) => setError(errorText(err)),
    )
  const reserve = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    act(call('PUT', path('/ferrite/v1/leases/{mac}', String(form.get('mac')).trim()), { body: { ip: String(form.get('ip')).trim() } }))
  }
  const leases = found.data?.leases ?? []
  return (
    <>
      <div className="heading">
        <h1>Leases</h1>
        <p className="muted">{found.data && plural(leases.length, 'address', 'addresses')}</p>
      </div>
      <Failed error={found.error} retry={found.reload} />
      {error !== '' && <Notice kind="error">{error}</Notice>}
      {found.data && leases.length === 0 && <Empty>No address is assigned or reserved. The boot service assigns them to machines that boot.</Empty>}
      {leases.length > 0 && (
        <Table
          label="Leases"
          rows={leases}
          id={(l) => l.mac}
          columns={[
            { label: 'MAC address', of: (l) => <code>{visible(l.mac)}</code> },
            { label: 'Address', of: (l) => <code>{visible(l.ip)}</code> },
            { label: 'Type', of: (l) => (l.static ? 'reserved' : 'assigned') },
            { label: 'Expires', wide: true, of: (l) => (l.static ? '' : dateTime(l.expires)) },
            { label: 'Subnet', wide: true, of: (l) => visible(l.subnet ?? '') },
            {
              label: 'Release',
              of: (l) =>
                may && (
                  <button type="button" aria-label={`Release ${visible(l.mac)}`} onClick={() => act(call('DELETE', path('/ferrite/v1/leases/{mac}', l.mac)))}>
                    Release
                  </button>
                ),
            },
          ]}
        />
      )}
      {may && (
        <form className="form" onSubmit={reserve}>
          <h2>Reserve an address</h2>
          <label>
            MAC address
            <input name="mac" required placeholder="52:54:00:12:34:56" spellCheck={false} autoComplete="off" />
          </label>
          <label>
            Address
            <input name="ip" required placeholder="10.0.0.50" spellCheck={false} autoComplete="off" />
          </label>
          <div className="row">
            <button className="primary">Reserve</button>
          </div>
        </form>
      )}
    </>
  )
}
