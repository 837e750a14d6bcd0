import { kindOf, plainState } from '../lib/classify'

/** Mark is the shape and colour of a state. */
export const Mark = ({ state }: { state: string }) => <span className={`mark mark-${kindOf(state)}`} aria-hidden="true" />

/** State is a state with its mark. */
export const State = ({ state }: { state: string }) => (
  <span className={`state kind-${kindOf(state)}`}>
    <Mark state={state} />
    {plainState(state)}
  </span>
)

const powers: Record<string, string> = { 'power on': 'on', 'power off': 'off', rebooting: 'reboots', error: 'error' }

/** Power is a power state: filled for on, a ring for off. */
export const Power = ({ power }: { power: string }) => (
  <span className="power">
    <span className={`bulb bulb-${powers[power] ?? 'unknown'}`} aria-hidden="true" />
    {powers[power] ?? 'unknown'}
  </span>
)
