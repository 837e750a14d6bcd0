// Which group a state belongs to, and why a machine needs somebody.
import { inLabels } from './words'

/** Kind is a group of states that has a colour and a shape of its own. */
export type Kind = 'failed' | 'hold' | 'waiting' | 'working' | 'rescue' | 'active' | 'available' | 'manageable' | 'enroll'

export const kinds: { kind: Kind; label: string; means: string }[] = [
  { kind: 'failed', label: 'Failed', means: 'a step failed, and nothing continues by itself' },
  { kind: 'hold', label: 'On hold', means: 'a step requested a pause' },
  { kind: 'waiting', label: 'Waiting', means: 'it is the machine’s turn' },
  { kind: 'working', label: 'Working', means: 'the conductor is at work' },
  { kind: 'rescue', label: 'Rescue', means: 'the rescue ramdisk takes logins' },
  { kind: 'active', label: 'Active', means: 'it runs its own system' },
  { kind: 'available', label: 'Available', means: 'it is clean, and can be deployed' },
  { kind: 'manageable', label: 'Manageable', means: 'its BMC is known' },
  { kind: 'enroll', label: 'Enrolled', means: 'it is not checked yet' },
]

/** kindOf puts a state into its group. */
export function kindOf(state: string): Kind {
  switch (state) {
    case 'error':
      return 'failed'
    case 'active':
    case 'available':
    case 'manageable':
    case 'enroll':
    case 'rescue':
      return state
    case 'wait call-back':
      return 'waiting'
  }
  if (state.endsWith(' failed')) return 'failed'
  if (state.endsWith(' hold')) return 'hold'
  if (state.endsWith(' wait')) return 'waiting'
  return 'working'
}

/** plainState is a state in plain words where Ironic's differ. */
export const plainState = (state: string): string => (state === 'wait call-back' ? 'deploy wait' : state || 'unknown')

/** inProgress reports whether a state leads on by itself. */
export function inProgress(state: string): boolean {
  const kind = kindOf(state)
  return kind === 'working' || kind === 'waiting'
}

/** Machine is a row of the list of machines. */
export interface Machine {
  uuid: string
  name: string
  state: string
  target: string
  power: string
  maintenance: boolean
  reason: string
  fault: string
  error: string
  class: string
  driver: string
  group: string
  owner: string
  health: string
  retired: boolean
  /** since is when the state began, as a number; 0 for unknown. */
  since: number
  step: string
  progress: { step: string; done: number; total: number; at: number } | null
  stage: string
}

/** longWait is after which a machine that is waited for is worth a look, in milliseconds. */
export const longWait = 30 * 60 * 1000

/** attention is why a machine needs somebody, with the labels of the forms; '' for none. */
export const attention = (m: Machine, now: number): string => inLabels(need(m, now))

/** besideState is a reason without its beginning where that is the machine's state, which stands beside it. */
export function besideState(reason: string, state: string): string {
  const begin = `${state} at step `
  return reason.startsWith(begin) ? reason.slice(begin.length) : reason
}

/** need is the most urgent reason. */
function need(m: Machine, now: number): string {
  const kind = kindOf(m.state)
  if (kind === 'failed') return m.error || `${plainState(m.state)}`
  if (m.fault) return `${m.fault}${m.reason ? `: ${m.reason}` : ''}`
  if (kind === 'hold') return 'a step requested a pause'
  if (m.state === 'enroll' && m.error) return m.error
  if (m.health === 'Critical' || m.health === 'critical') return 'a part of the machine is in a critical state'
  if (m.power === 'error') return m.error || 'its power state cannot be read'
  if (m.maintenance) return `in maintenance${m.reason ? `: ${m.reason}` : ''}`
  if (kind === 'waiting' && m.since > 0 && now - m.since > longWait) return 'it has been waiting for more than 30 minutes'
  if (m.error && !inProgress(m.state)) return m.error
  if (m.health === 'Warning' || m.health === 'warning') return 'a part of the machine warns'
  return ''
}

/** urgency orders machines that need somebody: failures first, maintenance last. */
export function urgency(m: Machine): number {
  const kind = kindOf(m.state)
  if (kind === 'failed') return 0
  if (m.fault) return 1
  if (kind === 'hold') return 2
  if (m.error) return 3
  return m.maintenance ? 5 : 4
}
