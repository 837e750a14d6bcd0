// Entries of the audit, as people read them.
import { asText } from './format'

export interface Line {
  id: number
  entry: Entry
}

export interface Entry {
  at?: string
  user?: string
  project?: string
  from?: string
  method?: string
  path?: string
  status?: number
  name?: string
  conductor?: string
  changes?: { field: string; old?: string; new?: string }[]
}

/** changes is what a request has changed, in a line. */
export function changes(e: Entry): string {
  return (e.changes ?? []).map((c) => `${c.field}: ${c.old ?? 'none'} → ${c.new ?? 'none'}`).join('; ')
}

/** has reports whether an entry has all words. */
export function has(e: Entry, words: string): boolean {
  const text = `${asText(e.user)} ${asText(e.from)} ${asText(e.method)} ${asText(e.path)} ${asText(e.status)} ${asText(e.name)} ${changes(e)}`.toLowerCase()
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}
