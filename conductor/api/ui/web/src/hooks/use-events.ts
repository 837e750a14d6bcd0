import { useEffect, useRef } from 'react'
import { stream } from '../api/stream'
import type { Event } from '../api/types'

/** useEvents calls take with events; missed when some may be missing. */
export function useEvents(take: (events: Event[]) => void, missed?: () => void): void {
  const latest = useRef({ take, missed })
  latest.current = { take, missed }
  useEffect(() => stream.follow((events) => latest.current.take(events), () => latest.current.missed?.()), [])
}
