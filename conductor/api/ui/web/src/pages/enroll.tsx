import { useState, type FormEvent } from 'react'
import { call, get } from '../api/client'
import { errorText } from '../api/fault'
import { ask } from '../api/machine'
import type { Node } from '../api/types'
import { Link } from '../components/link'
import { Failed, Notice } from '../components/notice'
import { useData } from '../hooks/use-data'
import { go } from '../hooks/use-route'
import { choices, common, type Choice, type Driver } from '../lib/enroll'
import { visible } from '../lib/format'
import { address } from '../lib/route'
import { verb } from '../lib/verbs'

/** EnrollPage makes a node of a machine, by the address and the login of its BMC. */
export function EnrollPage() {
  const drivers = useData((signal) => get<{ drivers: Driver[] }>('/v1/drivers', { detail: 'true' }, signal), [])
  const names = (drivers.data?.drivers ?? []).map((d) => d.name)
  const [chosen, setChosen] = useState('')
  const driver = chosen || (names.includes('redfish') ? 'redfish' : (names[0] ?? ''))
  const properties = useData(
    (signal) => (driver === '' ? Promise.resolve<Record<string, string>>({}) : get<Record<string, string>>(`/v1/drivers/${encodeURIComponent(driver)}/properties`, undefined, signal)),
    [driver],
  )
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const known = properties.data ?? {}
  const first = (common[driver] ?? []).filter(({ key }) => key in known)
  const others = Object.keys(known).filter((key) => !first.some((s) => s.key === key)).sort()
  const interfaces = choices(drivers.data?.drivers.find((d) => d.name === driver))

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const info: Record<string, string> = {}
    for (const key of Object.keys(known)) if (text(`info/${key}`) !== '') info[key] = text(`info/${key}`)
    const body: Record<string, unknown> = { driver, driver_info: info }
    for (const key of ['name', 'resource_class', 'owner', 'description', ...interfaces.map((i) => i.field)]) if (text(key) !== '') body[key] = text(key)
    setBusy(true)
    setError('')
    void enroll(body, text('mac'), form.get('manage') !== null).then(
      (uuid) => go(address(['machines', uuid])),
      (err: unknown) => {
        setError(errorText(err))
        setBusy(false)
      },
    )
  }
  return (
    <>
      <p className="crumbs">
        <Link to={address([])}>Machines</Link>
      </p>
      <h1>Enroll a machine</h1>
      <Failed error={drivers.error} retry={drivers.reload} />
      <form className="form" onSubmit={submit}>
        <label>
          Name
          <input name="name" autoComplete="off" spellCheck={false} maxLength={255} />
        </label>
        <label>
          Driver
          <select value={driver} onChange={(e) => setChosen(e.target.value)}>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {first.map(({ key, label }) => (
          <Setting key={key} name={key} label={label} means={known[key] ?? ''} />
        ))}
        {others.length > 0 && (
          <details>
            <summary>{first.length > 0 ? `${others.length} more settings of the driver` : `${others.length} settings of the driver`}</summary>
            {others.map((key) => (
              <Setting key={key} name={key} means={known[key] ?? ''} />
            ))}
          </details>
        )}
        <label>
          MAC address it boots from
          <input name="mac" placeholder="52:54:00:12:34:56" spellCheck={false} autoComplete="off" />
          <small>Inspection by the ramdisk needs it. Left empty: the ports are those that inspection by the BMC finds.</small>
        </label>
        {interfaces
          .filter((choice) => choice.usual)
          .map((choice) => (
            <Interface key={driver + choice.field} of={choice} />
          ))}
        {interfaces.some((choice) => !choice.usual) && (
          <details>
            <summary>More interfaces</summary>
            {interfaces
              .filter((choice) => !choice.usual)
              .map((choice) => (
                <Interface key={driver + choice.field} of={choice} />
              ))}
          </details>
        )}
        <label>
          Resource class
          <input name="resource_class" maxLength={80} spellCheck={false} />
        </label>
        <label>
          Owner
          <input name="owner" maxLength={255} spellCheck={false} />
          <small>The project that it belongs to.</small>
        </label>
        <label>
          Description
          <input name="description" maxLength={4096} />
        </label>
        <label className="inline">
          <input type="checkbox" name="manage" defaultChecked /> Check at once that its BMC answers
        </label>
        {error !== '' && <Notice kind="error">{error}</Notice>}
        <div className="row">
          <button className="primary" disabled={busy || driver === ''}>
            Enroll
          </button>
        </div>
      </form>
    </>
  )
}

const Setting = ({ name, label, means }: { name: string; label?: string; means: string }) => (
  <label>
    {label ?? name}
    <input name={`info/${name}`} type={/password|secret/.test(name) ? 'password' : 'text'} autoComplete={/password/.test(name) ? 'new-password' : 'off'} spellCheck={false} />
    <small>
      {label && <code>{name}</code>} {visible(means)}
    </small>
  </label>
)

const Interface = ({ of }: { of: Choice }) => (
  <label>
    {of.label}
    <select name={of.field} defaultValue="">
      <option value="">{`${of.default} (the default)`}</option>
      {of.options
        .filter((option) => option !== of.default)
        .map((option) => (
          <option key={option}>{option}</option>
        ))}
    </select>
    {of.means !== '' && <small>{of.means}</small>}
  </label>
)

/** enroll makes the node and its port; a node whose port is refused is taken away again. */
async function enroll(body: Record<string, unknown>, mac: string, manage: boolean): Promise<string> {
  const node = await call<Node>('POST', '/v1/nodes', { body })
  const uuid = node.uuid ?? ''
  if (mac !== '') {
    try {
      await call('POST', '/v1/ports', { body: { node_uuid: uuid, address: mac } })
    } catch (err) {
      await call('DELETE', `/v1/nodes/${uuid}`)
      throw err
    }
  }
  if (manage) await ask(verb('manage')!, uuid)
  return uuid
}
