// The language of the filter: words that a machine's texts must have, and key:value for one of them.
//
//   rack-4 state:"deploy failed" -class:gpu maintenance:yes
import { attention, kindOf, plainState, type Machine } from './classify'

export interface Term {
  not: boolean
  key: string
  value: string
}

type Field = (m: Machine) => string

const yesNo = (value: boolean): string => (value ? 'yes' : 'no')

/** fields are the keys of the filter. */
export const fields: Record<string, { of: Field; exact?: boolean; means: string }> = {
  name: { of: (m) => m.name, means: 'its name' },
  uuid: { of: (m) => m.uuid, means: 'its UUID' },
  state: { of: (m) => plainState(m.state), means: 'its provision state' },
  kind: { of: (m) => kindOf(m.state), exact: true, means: 'failed, hold, waiting, working, active, available …' },
  power: { of: (m) => m.power, means: 'power on, power off, error' },
  class: { of: (m) => m.class, means: 'its resource class' },
  driver: { of: (m) => m.driver, means: 'its hardware type' },
  group: { of: (m) => m.group, means: 'its conductor group' },
  owner: { of: (m) => m.owner, means: 'the project that owns it' },
  health: { of: (m) => m.health, means: 'ok, warning, critical' },
  error: { of: (m) => m.error, means: 'its last error' },
  fault: { of: (m) => m.fault, means: 'why it was taken out of service' },
  maintenance: { of: (m) => yesNo(m.maintenance), exact: true, means: 'yes or no' },
  retired: { of: (m) => yesNo(m.retired), exact: true, means: 'yes or no' },
  attention: { of: (m) => yesNo(attention(m, Date.now()) !== ''), exact: true, means: 'yes or no' },
}

const word = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi

/** parse reads a filter. A key that is not known is taken as text: a name may have a colon. */
export function parse(text: string): Term[] {
  const terms: Term[] = []
  for (const match of text.matchAll(word)) {
    const [whole, minus, key, quoted, plain] = match
    const value = (quoted ?? plain ?? '').toLowerCase()
    if (key && fields[key.toLowerCase()]) {
      if (value !== '') terms.push({ not: minus === '-', key: key.toLowerCase(), value })
    } else if (whole !== '-') {
      terms.push({ not: false, key: '', value: quoted !== undefined && !key ? value : whole.replaceAll('"', '').toLowerCase() })
    }
  }
  return terms
}

/** haystack is the texts that a word without a key is looked for in. */
export function haystack(m: Machine): string {
  return `${m.name} ${m.uuid} ${plainState(m.state)} ${m.power} ${m.class} ${m.driver} ${m.owner} ${m.group} ${m.error}`.toLowerCase()
}

/** matches reports whether a machine has all terms. */
export function matches(m: Machine, terms: Term[], texts: string = haystack(m)): boolean {
  return terms.every((term) => {
    const field = fields[term.key]
    if (!field) return texts.includes(term.value)
    const value = field.of(m).toLowerCase()
    return (field.exact ? value === term.value : value.includes(term.value)) !== term.not
  })
}

/** withTerm puts a key's value into a filter, in place of another one of the key; '' takes it out. */
export function withTerm(text: string, key: string, value: string): string {
  const kept = [...text.matchAll(word)].filter((m) => (m[2] ?? '').toLowerCase() !== key).map((m) => m[0])
  if (value !== '') kept.push(`${key}:${/\s/.test(value) ? `"${value}"` : value}`)
  return kept.join(' ')
}

/** valueOf is the value that a filter has for a key. */
export function valueOf(text: string, key: string): string {
  return parse(text).find((term) => term.key === key && !term.not)?.value ?? ''
}
