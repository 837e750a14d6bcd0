import { useState, type ReactNode } from 'react'
import { errorText } from '../../api/fault'
import { ask, ferrite, type Arguments } from '../../api/machine'
import { get } from '../../api/client'
import { session } from '../../api/session'
import type { Answer, Node, Status } from '../../api/types'
import { Advice } from '../../components/advice'
import { Confirm } from '../../components/confirm'
import { Dialog } from '../../components/dialog'
import { Notice } from '../../components/notice'
import { useData } from '../../hooks/use-data'
import { go } from '../../hooks/use-route'
import type { Machine } from '../../lib/classify'
import { imageOf } from '../../lib/deploy'
import { visible } from '../../lib/format'
import { label } from '../../lib/order'
import { address } from '../../lib/route'
import { inLabels } from '../../lib/words'
import { advised, all, primary, reason, refused, type Verb } from '../../lib/verbs'
import { VerbFields } from './verb-fields'

/** Verbs are the last error, the next step, and the buttons of what can be asked of a machine now. What one may not do is not there. */
export function Verbs({ machine, node, status, changed }: { machine: Machine; node: Node; status: Status | undefined; changed: () => void }) {
  const [open, setOpen] = useState<Verb | null>(null)
  const offered = all.filter((v) => session.may(v.rule, machine.owner, node.lessee ?? '') && refused(v, machine) === '')
  const tried = status?.try ? advised(status.try, offered) : []
  const first = primary(machine, tried, offered)
  const button = (v: Verb) => <Button key={v.id} verb={v} machine={machine} open={setOpen} first={v === first} />
  const boxed = status && isBad(status) ? tried : [] // beside the fault that they end
  const rest = offered.filter((v) => !boxed.includes(v))
  const own = rest.filter((v) => v.kind === 'provision').sort((a, b) => Number(b === first) - Number(a === first))
  const others = rest.filter((v) => v.kind !== 'provision')
  return (
    <>
      {status && <Next status={status} machine={machine.uuid} buttons={boxed.map(button)} />}
      {offered.length > 0 && (
        <div className="verbs">
          {own.length > 0 && (
            <div className="row" role="group" aria-label="Verbs of its state">
              {own.map(button)}
            </div>
          )}
          {others.length > 0 && (
            <div className="row" role="group" aria-label="Power and service">
              {others.map(button)}
            </div>
          )}
        </div>
      )}
      {open && <VerbDialog verb={open} machine={machine} node={node} onClose={() => setOpen(null)} changed={changed} />}
    </>
  )
}

const isBad = (s: Status): boolean => Boolean(s.last_error || s.fault)

/** Next is why the machine is where it is, and what to do: each verb that the advice names is a button. */
function Next({ status: s, machine, buttons }: { status: Status; machine: string; buttons: ReactNode[] }) {
  const bad = isBad(s)
  if (!bad && !s.try) return null
  return (
    <div className={bad ? 'notice notice-error next-step' : 'next-step'} role="group" aria-label="Next step">
      {s.last_error && (
        <p>
          <strong>Last error:</strong> {visible(inLabels(s.last_error))}
        </p>
      )}
      {s.fault && <p>Taken out of service by the conductor: {visible(s.fault)}</p>}
      {s.try && (
        <p>
          <strong>Next:</strong> <Advice text={s.try} machine={machine} />
        </p>
      )}
      {buttons.length > 0 && <div className="row">{buttons}</div>}
    </div>
  )
}

const Button = ({ verb: v, machine, open, first }: { verb: Verb; machine: Machine; open: (v: Verb) => void; first: boolean }) => (
  <button
    type="button"
    title={sentence(reason(v, machine)) + (v.danger === '' ? '' : ` ${v.danger} You are asked first.`)}
    className={first ? 'primary' : v.danger === '' ? '' : 'careful'}
    onClick={() => open(v)}
  >
    {v.label}
  </button>
)

/** VerbDialog asks for the arguments of a verb, and for the machine's name where something is destroyed. */
function VerbDialog({ verb: v, machine, node, onClose, changed }: { verb: Verb; machine: Machine; node: Node; onClose: () => void; changed: () => void }) {
  const [args, setArgs] = useState<Arguments | null>(v.form === 'rescue' || v.form === 'steps' ? null : {})
  const [typed, setTyped] = useState('')
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const name = label(machine)
  const steps = useData(async (signal) => {
    if (v.form !== 'steps') return []
    const answer = await get<Answer<'GET /ferrite/v1/nodes/{node}/steps'>>(ferrite(machine.uuid, '/steps'), undefined, signal)
    return [...new Set(answer.steps.map((s) => `${s.interface}.${s.step}`))].sort()
  }, [v.id])
  const send = () => {
    setBusy(true)
    setError('')
    ask(v, machine.uuid, args ?? {}).then(
      () => {
        onClose()
        if (v.kind === 'delete') go(address([]))
        else changed()
      },
      (err: unknown) => {
        setError(errorText(err))
        setBusy(false)
      },
    )
  }
  return (
    <Dialog title={`${v.label} ${visible(name)}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <p>{sentence(reason(v, machine))}</p>
        <VerbFields verb={v} onChange={setArgs} steps={steps.data ?? []} image={imageOf(node.instance_info)} />
        {v.danger !== '' && <Confirm danger={v.danger} text={name} value={typed} onChange={setTyped} />}
        {error !== '' && <Notice kind="error">{error}</Notice>}
        <div className="row">
          <button className={v.danger === '' ? 'primary' : 'danger'} disabled={busy || args === null || (v.danger !== '' && typed !== name)}>
            {v.label}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`
