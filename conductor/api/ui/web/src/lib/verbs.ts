// The actions that can be requested for a machine: the verbs of its state, and those beside it.
import { verbs as ofState } from '../api/states'
import { kindOf, type Machine } from './classify'
import { inLabels } from './words'

/** Verb is an action that can be requested for a machine; danger is what it may destroy, in words for the question before it. */
export interface Verb {
  id: string
  label: string
  /** target is what is sent to states/provision or states/power. */
  target: string
  kind: 'provision' | 'power' | 'maintenance' | 'delete' | 'console'
  rule: string
  danger: string
  means: string
  /** form: it has arguments beside the reason. */
  form?: 'deploy' | 'steps' | 'rescue' | 'reason' | 'rebuild' | 'boot'
}

const provision = (id: string, label: string, means: string, more: Partial<Verb> = {}): Verb => ({
  id, label, means, target: id, kind: 'provision', rule: 'baremetal:node:set_provision_state', danger: '', ...more,
})

const power = (id: string, label: string, means: string, danger = ''): Verb => ({
  id, label, means, target: id, kind: 'power', rule: 'baremetal:node:set_power_state', danger,
})

/** all is the table of verbs, in the order they are offered in. */
export const all: Verb[] = [
  provision('deploy', 'Deploy', 'Put an operating system on it.', {
    target: 'active', form: 'deploy', danger: 'Its root disk is written over.',
  }),
  provision('provide', 'Provide', 'Clean it, and offer it for deployments.', {
    danger: 'Automated cleaning erases its disks, as the settings say.',
  }),
  provision('manage', 'Manage', 'Check that its BMC answers, or take it back from where it is.'),
  provision('inspect', 'Inspect', 'Read the hardware of the machine.'),
  provision('clean', 'Clean', 'Run clean steps by hand.', {
    form: 'steps', danger: 'Clean steps may erase its disks.',
  }),
  provision('adopt', 'Adopt', 'It runs a workload already: take it over untouched.'),
  provision('rescue', 'Rescue', 'Boot a ramdisk to repair it by hand.', { form: 'rescue', danger: 'Its workload is stopped.' }),
  provision('unrescue', 'Unrescue', 'The repair is done: boot its own system.'),
  provision('service', 'Service', 'Run service steps under a living workload.', {
    form: 'steps', danger: 'Its workload is stopped while the steps run.',
  }),
  provision('rebuild', 'Rebuild', 'Write its image again, and keep the instance.', {
    form: 'rebuild', danger: 'Its root disk is written over.',
  }),
  provision('delete', 'Undeploy', 'Take the instance away, and clean the machine.', {
    target: 'deleted', danger: 'The instance ends, and its disks are erased by automated cleaning.',
  }),
  provision('unhold', 'Unhold', 'Continue from the step that paused it.'),
  provision('abort', 'Abort', 'End its activity.', { danger: 'The machine stays as the unfinished work left it.' }),
  power('power on', 'Power on', 'Switch it on.'),
  power('soft power off', 'Shut down', 'Ask its system to end, and switch it off.', 'Its workload is stopped.'),
  power('power off', 'Power off', 'Switch it off at once.', 'Its workload is cut off at once.'),
  power('rebooting', 'Reboot', 'Switch it off and on again.', 'Its workload is cut off at once.'),
  {
    id: 'maintenance', label: 'Maintenance', target: '', kind: 'maintenance', rule: 'baremetal:node:set_maintenance', danger: '',
    means: 'Take it out of service: nothing is begun with it by itself.', form: 'reason',
  },
  {
    id: 'unmaintenance', label: 'End maintenance', target: '', kind: 'maintenance', rule: 'baremetal:node:clear_maintenance',
    danger: '', means: 'Put it back into service.',
  },
  {
    id: 'forget', label: 'Delete', target: '', kind: 'delete', rule: 'baremetal:node:delete:self_owned_node',
    danger: 'The conductor forgets the machine and its history.', means: 'Forget the machine.',
  },
]

export const verb = (id: string): Verb | undefined => all.find((v) => v.id === id)

/** refused is why a machine cannot be asked for a verb now; '' when it can. */
export function refused(v: Verb, m: Machine): string {
  switch (v.kind) {
    case 'provision':
      return (ofState[m.state] ?? []).some((row) => row.verb === v.id) ? '' : `not in the state ${m.state}`
    case 'power':
      if (v.id === 'power on') return m.power === 'power on' ? 'it is on already' : ''
      return m.power === 'power off' && v.id !== 'rebooting' ? 'it is off already' : ''
    case 'maintenance':
      if (v.id === 'maintenance') return m.maintenance ? 'it is in maintenance already' : ''
      return m.maintenance ? '' : 'it is not in maintenance'
    case 'delete':
      return ['enroll', 'manageable', 'available', 'adopt failed', 'clean failed', 'inspect failed'].includes(m.state) || m.maintenance
        ? ''
        : `not in the state ${m.state}`
    case 'console':
      return ''
  }
}

/** words are the words of the CLI for verbs, where they differ from the verb's own. */
const words: Record<string, string> = { undeploy: 'delete', on: 'power on', off: 'power off', reboot: 'rebooting', unset: 'unmaintenance' }

/** advised are the verbs that an advice names behind its first "then", "for" or command, in its order: "correct the cause, then: ferrite node deploy m1, or undeploy". */
export function advised(advice: string, offered: Verb[]): Verb[] {
  if (advice.startsWith('nothing')) return []
  const from = advice.search(/\b(then|for|up|on)\b|\bferrite node /)
  const found = (from < 0 ? '' : advice.slice(from)).split(/[\s,;:]+/).map((word) => offered.find((v) => v.id === (words[word] ?? word)))
  return [...new Set(found.filter((v) => v !== undefined))]
}

/** Advice is a part of an advice: a text, or a link to the machine's log. */
export interface Advice {
  text: string
  log?: boolean
}

const command = /ferrite node (logs|maintenance unset|[a-z]+) [\w.~-]+(?: -f| --image URL --checksum SUM| again)?/g

/** adviceParts is an advice of the conductor for this interface: a verb of the CLI is the label of its button, and the machine's log a link. */
export function adviceParts(advice: string): Advice[] {
  const parts: Advice[] = []
  let end = 0
  for (const found of advice.matchAll(command)) {
    const name = found[1]!.split(' ').at(-1)!
    const button = verb(words[name] ?? name)
    if (name !== 'logs' && !button) continue
    parts.push({ text: inLabels(advice.slice(end, found.index)) }, button ? { text: `“${button.label}”` } : { text: 'read its log', log: true })
    end = found.index + found[0].length
  }
  return [...parts, { text: inLabels(advice.slice(end)) }].filter((p) => p.text !== '')
}

/** leading are the verbs that lead a machine on from where it rests. */
const leading: Record<string, string> = { enroll: 'manage', manageable: 'provide', available: 'deploy', rescue: 'unrescue' }

/** primary is the one verb of a page that is most likely wanted: the first that the advice names, else the one that leads on. */
export function primary(m: Machine, advice: Verb[], offered: Verb[]): Verb | undefined {
  const kind = kindOf(m.state)
  if (kind === 'failed' || kind === 'hold') return advice[0]
  return offered.find((v) => v.id === leading[m.state])
}

/** reason is why there is the verb in the machine's state, in the words of the table of states. */
export function reason(v: Verb, m: Machine): string {
  return ofState[m.state]?.find((row) => row.verb === v.id)?.why ?? v.means
}

/** Plan is what a verb would do with several machines. */
export interface Plan<M extends Machine> {
  asked: M[]
  /** left are machines that are not asked, by the reason. */
  left: Map<string, M[]>
}

export function plan<M extends Machine>(v: Verb, machines: M[], may: (m: M) => boolean): Plan<M> {
  const result: Plan<M> = { asked: [], left: new Map() }
  for (const m of machines) {
    const why = may(m) ? refused(v, m) : 'your role does not allow it'
    if (why === '') result.asked.push(m)
    else result.left.set(why, [...(result.left.get(why) ?? []), m])
  }
  return result
}
