import { useSyncExternalStore } from 'react'
import { parseRoute, type Route } from '../lib/route'

const listeners = new Set<() => void>()
let route: Route = parseRoute(location.pathname, location.search)

function changed(): void {
  route = parseRoute(location.pathname, location.search)
  for (const tell of listeners) tell()
}

window.addEventListener('popstate', changed)

/** go opens a page; replace keeps the step back where it was. */
export function go(to: string, replace = false): void {
  if (replace) history.replaceState(null, '', to)
  else history.pushState(null, '', to)
  changed()
  if (!replace) window.scrollTo(0, 0)
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell)
  return () => listeners.delete(tell)
}

/** useRoute is the page that is open. */
export const useRoute = (): Route => useSyncExternalStore(subscribe, () => route)

/** setQuery changes the query of the page that is open; '' takes a value out. */
export function setQuery(change: Record<string, string>): void {
  const query = new URLSearchParams(location.search)
  for (const [key, value] of Object.entries(change)) {
    if (value === '') query.delete(key)
    else query.set(key, value)
  }
  const text = query.toString()
  go(location.pathname + (text ? `?${text}` : ''), true)
}
