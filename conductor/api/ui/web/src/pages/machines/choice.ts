import type { Dispatch, SetStateAction } from 'react'

/** toggled is a set of machines with one more, or one less. */
export function toggled(chosen: ReadonlySet<string>, uuid: string): ReadonlySet<string> {
  const next = new Set(chosen)
  if (!next.delete(uuid)) next.add(uuid)
  return next
}

export interface Choice {
  chosen: ReadonlySet<string>
  choose: Dispatch<SetStateAction<ReadonlySet<string>>>
}
