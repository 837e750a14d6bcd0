import { useMemo, useState } from 'react'
import { all } from '../api/client'
import { errorText } from '../api/fault'
import { readInventory } from '../api/inventory'
import { ask, patchNode } from '../api/machine'
import { session } from '../api/session'
import type { Node } from '../api/types'
import { Link } from '../components/link'
import { Empty, Failed, Notice } from '../components/notice'
import { useData } from '../hooks/use-data'
import { useEvents } from '../hooks/use-events'
import { acceptance, nameErrors, proposed } from '../lib/accept'
import { asText, bytes, dateTime, plural, visible } from '../lib/format'
import { inParallel } from '../lib/parallel'
import { address } from '../lib/route'
import { verb } from '../lib/verbs'

const fields = 'uuid,name,driver,driver_info,properties,created_at,last_error,provision_state,resource_class'

/** DiscoveredPage is the machines not managed yet: look at each, name it, give it credentials, accept many. */
export function DiscoveredPage() {
  const found = useData((signal) => all<Node>('/v1/nodes', 'nodes', { provision_state: 'enroll', fields }, signal), [])
  useEvents(
    (events) => events.some((e) => e.type === 'node.created' || e.type === 'node.deleted' || e.moves?.length) && found.reload(),
    () => found.reload(),
  )
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [names, setNames] = useState<Record<string, string>>({})
  const [user, setUser] = useState('')
  const [password, setPassword] = useState('')
  const [kind, setKind] = useState('')
  const [results, setResults] = useState<Record<string, string>>({})
  const [busy, setBusy] = useState(false)
  const nodes = found.data ?? []
  const wrong = useMemo(() => nameErrors(nodes.filter((n) => chosen.has(n.uuid ?? '')).map((n) => [n.uuid ?? '', names[n.uuid ?? ''] ?? proposed(n)])), [nodes, chosen, names])
  const may = session.may('baremetal:node:update') && session.may('baremetal:node:set_provision_state')

  const accept = async () => {
    setBusy(true)
    setResults({})
    await inParallel(nodes.filter((n) => chosen.has(n.uuid ?? '')), 4, async (n) => {
      const uuid = n.uuid ?? ''
      const said = await patchNode(uuid, acceptance(n, { name: names[uuid] ?? proposed(n), user, password, resourceClass: kind }))
        .then(() => ask(verb('manage')!, uuid))
        .then(
          () => '',
          (err: unknown) => (errorText(err)),
        )
      setResults((before) => ({ ...before, [uuid]: said }))
    })
    setBusy(false)
    setChosen(new Set())
    found.reload()
  }
  const refused = Object.entries(results).filter(([, said]) => said !== '')
  return (
    <>
      <div className="heading">
        <h1>Discovered</h1>
        <p className="muted">{found.data && plural(nodes.length, 'machine')} not managed yet</p>
      </div>
      <Failed error={found.error} retry={found.reload} />
      {found.data && nodes.length === 0 && (
        <Empty>Nothing is here. Machines that boot from the network come here when the conductor runs with --discovery; enrolled ones stay until their BMC has answered.</Empty>
      )}
      {Object.keys(results).length > 0 && !busy && (
        <Notice kind={refused.length > 0 ? 'error' : 'good'}>
          {refused.length > 0 ? `${plural(refused.length, 'machine')} refused: ${refused[0]![1]}` : 'All were accepted; the conductor checks their BMCs.'}
        </Notice>
      )}
      <ul className="inbox">
        {nodes.map((n) => {
          const uuid = n.uuid ?? ''
          const name = names[uuid] ?? proposed(n)
          const shown = visible(n.name || uuid)
          return (
            <li key={uuid}>
              {may && (
                <input
                  type="checkbox"
                  aria-label={`Choose ${shown}`}
                  checked={chosen.has(uuid)}
                  onChange={() =>
                    setChosen((before) => {
                      const next = new Set(before)
                      if (!next.delete(uuid)) next.add(uuid)
                      return next
                    })
                  }
                />
              )}
              <div>
                <p>
                  <Link to={address(['machines', uuid])}>{shown}</Link> <span className="muted">{dateTime(n.created_at)}</span>
                </p>
                <p>
                  {asText(n.driver)}, BMC {asText(n.driver_info?.['redfish_address'] ?? n.driver_info?.['ipmi_address']) || 'not known'}
                  {(n.driver_info?.['redfish_username'] ?? n.driver_info?.['ipmi_username']) ? ', with credentials' : ''}
                </p>
                {n.last_error && <p className="bad">{visible(n.last_error)}</p>}
                <Look uuid={uuid} />
              </div>
              {may && chosen.has(uuid) && (
                <label>
                  Name
                  <input value={name} onChange={(e) => setNames({ ...names, [uuid]: e.target.value })} aria-invalid={Boolean(wrong[uuid])} spellCheck={false} />
                  {wrong[uuid] && <small className="bad">{wrong[uuid]}</small>}
                </label>
              )}
            </li>
          )
        })}
      </ul>
      {may && nodes.length > 0 && (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault()
            void accept()
          }}
        >
          <h2>Accept {plural(chosen.size, 'machine')}</h2>
          <p>
            <button type="button" onClick={() => setChosen(new Set(nodes.map((n) => n.uuid ?? '')))}>
              Choose all {nodes.length}
            </button>
          </p>
          <p className="muted">Look at the address of each BMC first: everybody on the boot network can claim to be a machine, and would be sent the password.</p>
          <label>
            User of the BMCs
            <input value={user} onChange={(e) => setUser(e.target.value)} autoComplete="off" spellCheck={false} />
          </label>
          <label>
            Password of the BMCs
            <input type="password" value={password} onChange={(e) => setPassword(e.target.value)} autoComplete="new-password" />
            <small>Left empty: each machine keeps its own.</small>
          </label>
          <label>
            Resource class
            <input value={kind} onChange={(e) => setKind(e.target.value)} maxLength={80} spellCheck={false} />
          </label>
          <div className="row">
            <button className="primary" disabled={busy || chosen.size === 0 || Object.keys(wrong).length > 0}>
              Accept and manage {plural(chosen.size, 'machine')}
            </button>
          </div>
        </form>
      )}
    </>
  )
}

/** Look is the hardware of a machine in a line, on demand. */
function Look({ uuid }: { uuid: string }) {
  const [open, setOpen] = useState(false)
  const found = useData((signal) => (open ? readInventory(uuid, signal) : Promise.resolve(undefined)), [uuid, open])
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Hardware</summary>
      {found.error !== '' && <p className="bad">{visible(found.error)}</p>}
      {found.data === null && <p className="muted">No inspection has reported it yet.</p>}
      {found.data && (
        <ul>
          {found.data.disks.map((d) => (
            <li key={d.name}>
              {visible(d.name)}: {bytes(d.size)} {asText(d.model)}
            </li>
          ))}
          {found.data.interfaces.map((i) => (
            <li key={i.mac_address}>
              {visible(i.name)}: {asText(i.mac_address)} {i.has_carrier ? 'with link' : 'without link'}
            </li>
          ))}
        </ul>
      )}
    </details>
  )
}
