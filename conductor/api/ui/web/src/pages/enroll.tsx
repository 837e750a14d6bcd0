import { useRef, useState, type FormEvent } from 'react'
import { call, get } from '../api/client'
import { errorText } from '../api/fault'
import { ask, readNode } from '../api/machine'
import type { Answer, Node } from '../api/types'
import { Choice, Field } from '../components/field'
import { Link } from '../components/link'
import { Failed, Notice } from '../components/notice'
import { useData } from '../hooks/use-data'
import { go } from '../hooks/use-route'
import { bodyOf, choices, common, driverInfo, type Driver, type Setting } from '../lib/enroll'
import { duration, visible } from '../lib/format'
import { address } from '../lib/route'
import { verb } from '../lib/verbs'

type Tested = { good: boolean; text: string }

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
  const form = useRef<HTMLFormElement>(null)
  const [error, setError] = useState('')
  const [busy, setBusy] = useState('')
  const [tested, setTested] = useState<Tested | null>(null)
  const [manage, setManage] = useState(true)
  const known = properties.data ?? {}
  const first = (common[driver] ?? []).filter(({ key }) => key in known)
  const others = Object.keys(known).filter((key) => !first.some((s) => s.key === key)).sort()
  const interfaces = choices(drivers.data?.drivers.find((d) => d.name === driver))

  const setting = ({ key, label, means, example, required }: Setting) => <DriverField key={driver + key} name={key} label={label} means={means} example={example} required={required} />

  const test = () => {
    setBusy('Asking the BMC …')
    setTested(null)
    call<Answer<'POST /ferrite/v1/bmc-test'>>('POST', '/ferrite/v1/bmc-test', { body: { driver, driver_info: driverInfo(new FormData(form.current!), Object.keys(known)) } })
      .then(
        (a) => setTested({ good: true, text: `The BMC answers, and accepts the login${a.power_state ? `: ${a.power_state}` : ''}. It took ${a.seconds < 1 ? 'less than 1 s' : duration(a.seconds)}.` }),
        (err: unknown) => setTested({ good: false, text: errorText(err) }),
      )
      .finally(() => setBusy(''))
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    setError('')
    setBusy('Enrolling …')
    enroll(bodyOf(data, driver, Object.keys(known), interfaces.map((i) => i.field), interfaces.some((i) => i.field === 'inspect_interface' && i.options.includes('agent'))), String(data.get('mac')).trim(), manage, data.get('inspect') !== null, setBusy).then(
      (uuid) => go(address(['machines', uuid])),
      (err: unknown) => {
        setError(errorText(err))
        setBusy('')
      },
    )
  }
  return (
    <>
      <p className="crumbs">
        <Link to={address([])}>Machines</Link>
      </p>
      <h1>Enroll a machine</h1>
      <p>The conductor keeps a record of the machine, a node, and switches it by its BMC: the small computer beside it that has an address of its own. Nothing is switched on yet.</p>
      <Failed error={drivers.error} retry={drivers.reload} />
      <form className="form columns" ref={form} onSubmit={submit} onChange={() => setTested(null)}>
        <fieldset>
          <legend>The BMC</legend>
          <div className="field">
            <div className="field-name">
              <label htmlFor="driver">Driver</label>
              <code>driver</code>
            </div>
            <select id="driver" value={driver} onChange={(e) => setChosen(e.target.value)}>
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
            <small>redfish for servers of the last ten years, ipmi for older ones.</small>
          </div>
          {first.filter((s) => !s.seldom).map(setting)}
          {others.length > 0 && (
            <details>
              <summary>{first.length > 0 ? 'Certificate, and more settings of the driver' : `${others.length} settings of the driver`}</summary>
              {first.filter((s) => s.seldom).map(setting)}
              {others.map((key) => (
                <DriverField key={driver + key} name={key} label={key} means={visible(known[key] ?? '')} />
              ))}
            </details>
          )}
          <div className="row">
            <button type="button" onClick={test} disabled={busy !== '' || driver === ''}>
              Test the connection
            </button>
            <span className="muted">Logs in, and reads the power state. Nothing is stored.</span>
          </div>
          {tested && <Notice kind={tested.good ? 'good' : 'error'}>{tested.text}</Notice>}
        </fieldset>
        <fieldset>
          <legend>The machine</legend>
          <Field label="MAC address it boots from" field="mac" placeholder="52:54:00:12:34:56" means="Inspection by the ramdisk needs it. Left empty: inspection by the BMC finds the ports." />
          <Field label="Name" field="name" maxLength={255} placeholder="rack4-7" means="Letters, digits, dots and dashes. Left empty: its UUID." />
          {interfaces
            .filter((i) => i.usual)
            .map((i) => (
              <Choice key={driver + i.field} label={i.label} field={i.field} means={i.means} usual={i.default} options={i.options} />
            ))}
          <details>
            <summary>Class, owner, description, more interfaces</summary>
            <Field label="Resource class" field="resource_class" maxLength={80} means="Machines of one class are alike: allocations choose by it." />
            <Field label="Owner" field="owner" maxLength={255} means="The project that it belongs to." />
            <Field label="Description" field="description" maxLength={4096} />
            {interfaces
              .filter((i) => !i.usual)
              .map((i) => (
                <Choice key={driver + i.field} label={i.label} field={i.field} means={i.means} usual={i.default} options={i.options} />
              ))}
          </details>
        </fieldset>
        <fieldset className="wide-row">
          <legend>Then</legend>
          <label className="inline">
            <input type="checkbox" checked={manage} onChange={(e) => setManage(e.target.checked)} /> Check at once that its BMC answers (manage)
          </label>
          <label className="inline">
            <input type="checkbox" name="inspect" disabled={!manage} /> Then read its hardware (inspect): the ramdisk switches it on and off
          </label>
        </fieldset>
        <div className="wide-row">{error !== '' && <Notice kind="error">{error}</Notice>}</div>
        <div className="row wide-row">
          <button className="primary" disabled={busy !== '' || driver === ''}>
            Enroll
          </button>
          <span className="muted" role="status">{busy}</span>
        </div>
      </form>
    </>
  )
}

const DriverField = ({ name, label, means, example, required }: { name: string; label: string; means: string; example?: string | undefined; required?: boolean | undefined }) => (
  <Field
    label={label}
    field={`info/${name}`}
    means={means}
    placeholder={example}
    required={required ?? false}
    type={/password|secret/.test(name) ? 'password' : 'text'}
    autoComplete={/password/.test(name) ? 'new-password' : 'off'}
  />
)

/** enroll makes the node and its port, and asks for the next verbs; a node whose port is refused is taken away again. */
async function enroll(body: Record<string, unknown>, mac: string, manage: boolean, inspect: boolean, say: (text: string) => void): Promise<string> {
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
  if (!manage) return uuid
  await ask(verb('manage')!, uuid)
  if (!inspect) return uuid
  say('Checking that its BMC answers …')
  for (;;) {
    const now = await readNode(uuid)
    if (now.provision_state === 'manageable') break
    if (now.provision_state === 'enroll') return uuid // the page of the machine has the reason
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  await ask(verb('inspect')!, uuid)
  return uuid
}
