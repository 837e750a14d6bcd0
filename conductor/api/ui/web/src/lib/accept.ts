// Accepting discovered machines: names, and the changes of their records.
import type { Change } from '../api/machine'
import type { Node } from '../api/types'

/** proposed is the name that the form begins with. */
export const proposed = (n: Node): string => n.name ?? ''

const valid = /^[A-Za-z0-9]([A-Za-z0-9._~-]{0,253}[A-Za-z0-9])?$/

/** nameErrors are the names that cannot be given, by machine; '' is allowed: the machine keeps its UUID. */
export function nameErrors(names: [string, string][]): Record<string, string> {
  const wrong: Record<string, string> = {}
  const seen = new Set<string>()
  for (const [uuid, name] of names) {
    if (name === '') continue
    if (!valid.test(name)) wrong[uuid] = 'Letters, digits, dots and dashes alone.'
    else if (seen.has(name)) wrong[uuid] = 'Another one of these has this name.'
    seen.add(name)
  }
  return wrong
}

export interface Accepted {
  name: string
  user: string
  password: string
  resourceClass: string
}

/** acceptance is the changes of a node's record; credentials are those of its driver. */
export function acceptance(n: Node, a: Accepted): Change[] {
  const driver = (n.driver ?? '').startsWith('ipmi') ? 'ipmi' : 'redfish'
  const set = (path: string, value: string): Change[] => (value === '' ? [] : [{ op: 'add', path, value }])
  return [
    ...(a.name === n.name ? [] : set('/name', a.name)),
    ...set('/resource_class', a.resourceClass),
    ...set(`/driver_info/${driver}_username`, a.user),
    ...set(`/driver_info/${driver}_password`, a.password),
  ]
}
